/** What was lost on the way here. Nothing is said while nothing is lost. */

import { count, text } from "./format.js";

const LOSSES = [
  ["dropped", "frames dropped while Redis was away"],
  ["late", "parts too late for their window"],
  ["lost_parts", "parts lost between executor and collector"],
  ["lost_records", "records not counted"],
  ["lost_events", "events lost"],
  ["unreadable", "entries that could not be read"],
];

export function healthLine(collector) {
  const said = LOSSES.filter(([name]) => collector[name] > 0).map(
    ([name, what]) => `${text(count(collector[name]))} ${what}`,
  );
  return said.length ? `Since the run began: ${said.join(", ")}. The chart lacks what they held.` : "";
}
