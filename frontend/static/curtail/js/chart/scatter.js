/**
 * The figure of a technique: points over two axes, larger ones with more behind them, one place
 * marked. All of it is data that the technique brings; nothing here knows which one.
 */

import { latencyAxis } from "./axes.js";
import { element } from "../core/dom.js";
import { count, text } from "../core/format.js";

const HEIGHT = 240;
const MARGIN = { l: 60, r: 16, t: 40, b: 42 };
const LARGEST_PX = 9;
const SMALLEST_PX = 3;
const BETWEEN_TICKS_PX = 36;
const ROUND = [1, 2, 5];

export function scatter(figure) {
  const { kind, title, points, weighs, note } = figure;
  const head = element("h4", {}, title);
  if (kind !== "points" || points.length === 0) return element("figure", { class: "technique-figure" }, head, element("p", { class: "muted" }, note));
  const plot = element("div", { class: "technique-plot", role: "img", "aria-label": inWords(figure) });
  // Drawn before the browser paints it for the first time, and again in every other width.
  new ResizeObserver(([{ contentRect }]) => contentRect.width > 0 && plot.replaceChildren(draw(figure, contentRect.width))).observe(plot);
  const key = weighs ? ` The larger a point, the more ${weighs}.` : "";
  return element("figure", { class: "technique-figure" }, head, plot, element("figcaption", { class: "muted" }, `${note}${key}`));
}

export function inWords({ title, points, mark }) {
  return [title, mark?.label, ...points.map(({ says }) => says)].filter(Boolean).join("; ");
}

export function draw({ x, y, points, mark }, width) {
  const right = width - MARGIN.r;
  const bottom = HEIGHT - MARGIN.b;
  const across = acrossAxis(mark ? [...points.map((point) => point.x), mark.x] : points.map((point) => point.x), right - MARGIN.l);
  const up = upAxis(points.map((point) => point.y), y.unit);
  const px = scale(across.range, [MARGIN.l, right]);
  const py = scale(up.range, [bottom, MARGIN.t]);
  const sorted = [...points].sort((a, b) => a.x - b.x);
  const heaviest = Math.max(...points.map(({ weight }) => weight));
  // The largest first, so that none hides a smaller one.
  const dots = [...points].sort((a, b) => b.weight - a.weight).map((point) =>
    svg(
      "circle",
      { cx: px(point.x), cy: py(point.y), r: radius(point.weight, heaviest), class: point.x === mark?.x ? "marked" : null },
      svg("title", {}, point.says),
    ),
  );
  return svg(
    "svg",
    { width, height: HEIGHT, "aria-hidden": "true" },
    label(0, 12, named(y, y.unit !== "ms")),
    ...up.values.flatMap((value, i) => [
      svg("line", { class: "grid", x1: MARGIN.l, x2: right, y1: py(value), y2: py(value) }),
      label(MARGIN.l - 8, py(value) + 4, up.labels[i], "end"),
    ]),
    ...across.values.map((value) => label(px(value), bottom + 16, text(count(value)), "middle")),
    label((MARGIN.l + right) / 2, HEIGHT - 6, named(x, true), "middle"),
    svg("path", { class: "curve", d: `M${sorted.map((point) => `${px(point.x)},${py(point.y)}`).join("L")}` }),
    ...(mark ? marked(mark, px(mark.x), bottom, right) : []),
    ...dots,
  );
}

/** By its area: twice the weight is twice the ink. */
export function radius(weight, heaviest) {
  return Math.max(SMALLEST_PX, LARGEST_PX * Math.sqrt(weight / heaviest));
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

function named({ label: said, unit }, withUnit) {
  return withUnit && unit ? `${said} (${unit})` : said;
}

function label(x, y, said, anchor = "start") {
  return svg("text", { x, y, "text-anchor": anchor }, said);
}

function scale([low, high], [from, to]) {
  return (value) => Number((from + ((value - low) / (high - low)) * (to - from)).toFixed(1));
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
