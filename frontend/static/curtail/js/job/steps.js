/** What a far view is made of, in words, and where it has no data. */

import { element, setText } from "../core/dom.js";
import { dayTime } from "../core/times.js";

const UNITS = [
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
];
// A hole that is narrower has no room for words.
const WORDS_PX = 60;

/** "1 min": how long a step is */
export function stepName(windowMs) {
  const [unitMs, unit] = UNITS.find(([ms]) => windowMs >= ms);
  return `${windowMs / unitMs} ${unit}`;
}

/** The line above the chart; empty where nothing has to be said. */
export function stepsLine({ ring, range, state, missing = [], incomplete = null }, zone) {
  const said = [];
  if (state === "there" && ring.stepped) {
    said.push(`${stepName(ring.windowMs)} steps, not 50 ms windows: percentiles are of all records of a step, the dotted line is its worst window, everything else its highest value.`);
    const holes = missing.filter((hole) => hole.end_ms > range[0] && hole.start_ms < range[1]);
    if (holes.length === 1) said.push(`No data ${times(holes[0], zone)}.`);
    if (holes.length > 1) said.push(`No data in ${holes.length} stretches, the longest ${times(longest(holes), zone)}.`);
  }
  if (state === "there" && incomplete) said.push(`Some may be missing: ${incomplete}.`);
  return said.join(" ");
}

/** Marks the stretches without data over the chart. */
export class Holes {
  #bands = [];

  constructor(root) {
    this.root = root;
  }

  show(chart, [startMs, endMs], missing) {
    const seen = missing.filter((hole) => hole.end_ms > startMs && hole.start_ms < endMs);
    while (this.#bands.length < seen.length) {
      const band = element("div", { class: "hole" });
      this.root.append(band);
      this.#bands.push(band);
    }
    for (const band of this.#bands.splice(seen.length)) band.remove();
    seen.forEach((hole, i) => {
      const left = chart.placeOf(Math.max(hole.start_ms, startMs));
      const width = chart.placeOf(Math.min(hole.end_ms, endMs)) - left;
      const band = this.#bands[i];
      band.style.transform = `translateX(${left}px)`;
      band.style.width = `${width}px`;
      setText(band, width >= WORDS_PX ? "no data" : "");
    });
  }
}

function longest(holes) {
  return holes.reduce((one, other) => (other.end_ms - other.start_ms > one.end_ms - one.start_ms ? other : one));
}

function times({ start_ms, end_ms }, zone) {
  return `from ${dayTime(start_ms, zone)} to ${dayTime(end_ms, zone)}`;
}
