/** A small line of a job's p99, drawn by hand: 500 of them are on one page. */

import { part } from "../core/dom.js";

const WIDTH = 120;
const HEIGHT = 24;
const PAD = 2;

/** values with null for gaps → the path of an SVG; a lone value is a dot (a line of no length) */
export function sparkPath(values, top) {
  const step = (WIDTH - 2 * PAD) / Math.max(1, values.length - 1);
  const y = (value) => HEIGHT - PAD - (Math.min(value, top) / top) * (HEIGHT - 2 * PAD);
  let path = "";
  let down = false;
  values.forEach((value, i) => {
    if (value === null) {
      down = false;
      return;
    }
    const point = `${(PAD + i * step).toFixed(1)},${y(value).toFixed(1)}`;
    path += down ? `L${point}` : `M${point}L${point}`;
    down = true;
  });
  return path;
}

export class Sparkline {
  #told = "";

  constructor() {
    this.node = part("spark").content.firstElementChild.cloneNode(true);
    this.slo = this.node.querySelector("line");
    this.line = this.node.querySelector("path");
  }

  /** recent: {p99_ms}, as the API has it; `says` is what a screen reader says. */
  update(recent, sloMs, says) {
    const values = recent?.p99_ms ?? [];
    const told = `${sloMs} ${values.length} ${recent?.start_ms} ${values.at(-1)}`;
    if (told === this.#told) return;
    this.#told = told;
    const highest = Math.max(0, ...values.filter((value) => value !== null));
    const top = Math.max(highest, sloMs ?? 0) * 1.05 || 1;
    this.line.setAttribute("d", sparkPath(values, top));
    this.node.setAttribute("aria-label", says);
    this.slo.setAttribute("visibility", sloMs ? "visible" : "hidden");
    const y = HEIGHT - PAD - ((sloMs ?? 0) / top) * (HEIGHT - 2 * PAD);
    this.slo.setAttribute("y1", y);
    this.slo.setAttribute("y2", y);
  }
}
