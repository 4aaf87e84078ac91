/** What the figures of technique cards are drawn with: elements of SVG, axes, a marked place. */

import { latencyAxis } from "../chart/axes.js";
import { count, duration, text } from "../core/format.js";

export const HEIGHT = 240;
export const MARGIN = { l: 60, r: 16, t: 40, b: 42 };
const BETWEEN_TICKS_PX = 36;
const ROUND = [1, 2, 5];

export function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Two axes with their grid for values of `xs` and `ys`; `px` and `py` tell where a value is. */
export function frame({ x, y, mark }, xs, ys, width) {
  const right = width - MARGIN.r;
  const bottom = HEIGHT - MARGIN.b;
  const across = acrossAxis(mark ? [...xs, mark.x] : xs, right - MARGIN.l);
  const up = upAxis(ys, y.unit);
  const px = scale(across.range, [MARGIN.l, right]);
  const py = scale(up.range, [bottom, MARGIN.t]);
  const grid = [
    label(0, 12, named(y, y.unit !== "ms")),
    ...up.values.flatMap((value, i) => [
      svg("line", { class: "grid", x1: MARGIN.l, x2: right, y1: py(value), y2: py(value) }),
      label(MARGIN.l - 8, py(value) + 4, up.labels[i], "end"),
    ]),
    ...across.values.map((value) => label(px(value), bottom + 16, text(count(value)), "middle")),
    label((MARGIN.l + right) / 2, HEIGHT - 6, named(x, true), "middle"),
  ];
  return { grid, px, py, marked: mark ? marked(mark, px(mark.x), bottom, right) : [] };
}

/** Round places, whole ones if all values are whole, and half a step of room at either end. */
export function acrossAxis(values, widthPx) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const least = values.every(Number.isInteger) ? 1 : (high - low) / 1e6 || 1;
  const wanted = Math.max(least, (high - low) / Math.max(1, widthPx / BETWEEN_TICKS_PX));
  const decade = 10 ** Math.floor(Math.log10(wanted));
  const step = [...ROUND, 10].map((place) => place * decade).find((size) => size >= wanted * 0.9999);
  const marks = [];
  for (let at = Math.ceil(low / step); at * step <= high * 1.0001; at += 1) marks.push(at * step);
  return { range: [low - step / 2, high + step / 2], values: marks };
}

function upAxis(values, unit) {
  const axis = latencyAxis(0, Math.max(...values), "linear");
  return unit === "ms" ? axis : { ...axis, labels: axis.values.map((value) => text(count(value))) };
}

function marked({ label: said }, x, bottom, right) {
  const room = right - x > 8 * said.length;
  return [
    svg("line", { class: "mark", x1: x, x2: x, y1: MARGIN.t - 14, y2: bottom }),
    svg("text", { class: "mark-label", x: x + (room ? 6 : -6), y: MARGIN.t - 6, "text-anchor": room ? "start" : "end" }, said),
  ];
}

export function named({ label: said, unit }, withUnit) {
  return withUnit && unit ? `${said} (${unit})` : said;
}

export function label(x, y, said, anchor = "start") {
  return svg("text", { x, y, "text-anchor": anchor }, said);
}

export function scale([low, high], [from, to]) {
  return (value) => Number((from + ((value - low) / (high - low)) * (to - from)).toFixed(1));
}

/** A number with its unit, as people read it. */
export function quantity(value, unit) {
  if (unit === "ms") return text(duration(value));
  return unit ? `${text(count(value))} ${unit}` : text(count(value));
}
