/** What every series says at a moment: its value in the window there, or its longest interval. */

import { duration, text } from "../core/format.js";

/** series as the panels give them; `number` is the window to read, null where there is none. */
export function readings(series, number, atMs, reachMs) {
  const values = new Map();
  for (const { key, at, read, items, slow } of series) {
    if (at) {
      if (number !== null) values.set(key, read(slow ? toldLast(at, number) : at(number), number));
      continue;
    }
    let longest = null;
    for (const { atMs: began, from, to } of items) {
      if (Math.abs(began - atMs) <= reachMs) longest = Math.max(longest ?? 0, to - from);
    }
    if (longest !== null) values.set(key, text(duration(longest)));
  }
  return values;
}

// What is told once a second holds until it is told again, or until it ought to have been.
const HOLDS_WINDOWS = 70;

function toldLast(at, number) {
  for (let back = 0; back < HOLDS_WINDOWS; back += 1) {
    const value = at(number - back);
    if (!Number.isNaN(value)) return value;
  }
  return NaN;
}
