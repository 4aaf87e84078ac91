/** The health of a job's collector: data that was lost on the way here, and its cost. */

import { count, percent, text } from "../core/format.js";

const LOSSES = [
  ["dropped", "frames dropped while Redis was away"],
  ["lost_parts", "parts lost between executor and collector"],
  ["lost_records", "records not counted"],
  ["lost_events", "events lost"],
  ["skipped_windows", "windows skipped by a collector that could not keep up"],
  ["unreadable", "entries that could not be read"],
];

// Executors report late while their JVM warms up, and again when it pauses for a moment. Only
// lateness that persists is worth a colour.
const WITHIN_MS = 60_000;
const GOES_ON_MS = 20_000;

/** Whether parts keep coming too late for their windows, by the counter of late parts. */
export class Lateness {
  #late = null;
  #rises = []; // the times at which the counter rose

  /** Takes the number of late parts since the run began → whether lateness persists. */
  told(late, nowMs) {
    if (this.#late !== null && late > this.#late) this.#rises.push(nowMs);
    // A lower counter means that a new run began.
    if (late < this.#late) this.#rises = [];
    this.#late = late ?? null;
    while (this.#rises[0] < nowMs - WITHIN_MS) this.#rises.shift();
    return this.#rises.length > 1 && this.#rises.at(-1) - this.#rises[0] >= GOES_ON_MS;
  }
}

/** "3 parts came too late for their window", or "". Records that were in them are among the losses. */
export function lateParts(collector) {
  return collector?.late > 0 ? `${text(count(collector.late))} ${collector.late === 1 ? "part" : "parts"} came too late for their window` : "";
}

/** "12 frames dropped while Redis was away, 3 …", or "" while nothing is lost. */
export function losses(collector) {
  return LOSSES.filter(([name]) => collector?.[name] > 0)
    .map(([name, what]) => `${text(count(collector[name]))} ${what}`)
    .join(", ");
}

/** `failure` is why the worker, which detects and steers, could not read the job lately. */
export function healthLine(collector, failure = "") {
  if (!collector) return "";
  const lost = losses(collector);
  const said = [lost ? `since the run began, ${lost}; the chart lacks what they held` : "nothing lost"];
  const late = lateParts(collector);
  if (late) said.push(late);
  const given = (name) => Number.isFinite(collector[name]);
  if (given("shipped_frames")) said.push(`${text(count(collector.shipped_frames))} frames shipped`);
  if (given("shipped_activities")) said.push(`${text(count(collector.shipped_activities))} activities shipped`);
  if (given("waiting")) said.push(`${text(count(collector.waiting))} waiting to be sent`);
  if (given("busy_share")) said.push(`busy ${text(percent(collector.busy_share * 100))} of one core`);
  return `Collector: ${said.join(" · ")}.${failure && ` The worker did not understand all of this job: ${failure}.`}`;
}
