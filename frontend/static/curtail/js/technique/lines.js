/** Lines over two axes; each has a colour and a dash of its own, so that either is enough. */

import { element } from "../core/dom.js";
import { frame, quantity, svg, HEIGHT } from "./svg.js";

// The number of colours that everybody can tell apart.
const COLOURS = 7;

export const has = ({ series }) => (series ?? []).some(({ x }) => x.length > 0);

export function words({ series, y: { unit } }) {
  return series.map(({ name, y }) => {
    if (y.length === 0) return `${name}: nothing`;
    const [low, high, last] = [Math.min(...y), Math.max(...y), y.at(-1)].map((value) => quantity(value, unit));
    return `${name}: from ${low} to ${high}, at last ${last}`;
  });
}

export function draw(figure, width) {
  const { series } = figure;
  const { grid, px, py, marked } = frame(figure, series.flatMap(({ x }) => x), series.flatMap(({ y }) => y), width);
  const paths = series.map(({ name, x, y }, i) =>
    svg("path", { class: `line ${look(i)}`, d: x.map((at, k) => `${k ? "L" : "M"}${px(at)},${py(y[k])}`).join("") }, svg("title", {}, name)),
  );
  return svg("svg", { width, height: HEIGHT, "aria-hidden": "true" }, ...grid, ...marked, ...paths);
}

/** The legend. */
export function key({ series }) {
  const swatch = (i) => svg("svg", { width: 28, height: 8, "aria-hidden": "true" }, svg("path", { class: `line ${look(i)}`, d: "M0,4L28,4" }));
  return element("ul", { class: "technique-key" }, ...series.map(({ name }, i) => element("li", {}, swatch(i), name)));
}

function look(i) {
  return `series-${(i % COLOURS) + 1}`;
}
