/** What the collector lost. Nothing is said while nothing is lost. */

import { count, text } from "./format.js";

export function healthLine({ dropped, late, unreadable }) {
  const said = [
    [dropped, "dropped by the collector"],
    [late, "came too late for their window"],
    [unreadable, "could not be read by the server"],
  ]
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${text(count(number))} ${what}`);
  return said.length ? `Frames since the run began: ${said.join(", ")}. The chart lacks what they held.` : "";
}
