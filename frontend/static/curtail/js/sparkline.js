/** A small line of a job's p99, drawn by hand: 500 of them are on one page. */

const SVG = "http://www.w3.org/2000/svg";
export const WIDTH = 120;
export const HEIGHT = 24;
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
    this.node = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "spark", role: "img" });
    this.slo = make("line", { class: "spark-slo", x1: 0, x2: WIDTH });
    this.line = make("path", { class: "spark-line" });
    this.node.append(this.slo, this.line);
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

function make(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
