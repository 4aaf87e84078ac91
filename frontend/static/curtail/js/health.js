/** How the collector of a job fares: what was lost on the way here, and what it costs. */

import { count, percent, text } from "./format.js";

const LOSSES = [
  ["dropped", "frames dropped while Redis was away"],
  ["late", "parts too late for their window"],
  ["lost_parts", "parts lost between executor and collector"],
  ["lost_records", "records not counted"],
  ["lost_events", "events lost"],
  ["skipped_windows", "windows skipped by a collector that could not keep up"],
  ["unreadable", "entries that could not be read"],
];

/** "12 frames dropped while Redis was away, 3 …", or "" while nothing is lost. */
export function losses(collector) {
  return LOSSES.filter(([name]) => collector?.[name] > 0)
    .map(([name, what]) => `${text(count(collector[name]))} ${what}`)
    .join(", ");
}

export function healthLine(collector) {
  if (!collector) return "";
  const lost = losses(collector);
  const said = [lost ? `since the run began, ${lost}; the chart lacks what they held` : "nothing lost"];
  const given = (name) => Number.isFinite(collector[name]);
  if (given("shipped_frames")) said.push(`${text(count(collector.shipped_frames))} frames shipped`);
  if (given("shipped_activities")) said.push(`${text(count(collector.shipped_activities))} activities shipped`);
  if (given("waiting")) said.push(`${text(count(collector.waiting))} waiting to be sent`);
  if (given("busy_share")) said.push(`busy ${text(percent(collector.busy_share * 100))} of one core`);
  return `Collector: ${said.join(" · ")}.`;
}
