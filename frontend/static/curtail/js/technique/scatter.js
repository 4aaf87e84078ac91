/** Points over two axes; the size of a point shows its weight. */

import { frame, svg, HEIGHT } from "./svg.js";

const LARGEST_PX = 9;
const SMALLEST_PX = 3;

export const has = ({ points }) => points.length > 0;

export const words = ({ points }) => points.map(({ says }) => says);

export function draw(figure, width) {
  const { points, mark } = figure;
  const { grid, px, py, marked } = frame(figure, points.map(({ x }) => x), points.map(({ y }) => y), width);
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
    ...grid,
    svg("path", { class: "curve", d: `M${sorted.map((point) => `${px(point.x)},${py(point.y)}`).join("L")}` }),
    ...marked,
    ...dots,
  );
}

/** The radius: the area is proportional to the weight. */
export function radius(weight, heaviest) {
  return Math.max(SMALLEST_PX, LARGEST_PX * Math.sqrt(weight / heaviest));
}
