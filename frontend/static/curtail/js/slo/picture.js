/** The utility function of one target as a small picture: what each value is worth, where it is now. */

import { duration, text } from "../core/format.js";
import { label, scale, svg } from "../technique/svg.js";
import { utility as worth } from "./objective.js";
import { curve, reach, share } from "./utility.js";

const WIDTH = 252;
const HEIGHT = 132;
const MARGIN = { l: 34, r: 14, t: 12, b: 22 };
// A label nearer to another than this would run into it.
const LABEL_PX = 46;

/**
 * `most`: the utility that this target can give; `now`: the value measured, if it is known.
 * Drawn in its own pixels: a dialog has them on a phone as well.
 */
export function utilityPicture({ kind, threshold, utility, most, now = null }) {
  const end = reach(kind, threshold, utility);
  const right = WIDTH - MARGIN.r;
  const bottom = HEIGHT - MARGIN.b;
  const px = scale([0, end], [MARGIN.l, right]);
  const py = scale([0, 1], [bottom, MARGIN.t]);
  const path = curve(kind, threshold, utility).map(([value, part], i) => `${i ? "L" : "M"}${px(value)},${py(part)}`).join("");
  const known = Number.isFinite(now);
  const at = Math.min(now, end);
  return svg(
    "svg",
    { class: "utility-picture", width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": said({ kind, threshold, utility, most, now }) },
    ...[0, 1].map((part) => svg("line", { class: "grid", x1: MARGIN.l, x2: right, y1: py(part), y2: py(part) })),
    label(MARGIN.l - 6, py(1) + 4, worth(most), "end"),
    label(MARGIN.l - 6, py(0) + 4, "0", "end"),
    svg("line", { class: "threshold", x1: px(threshold), x2: px(threshold), y1: MARGIN.t, y2: bottom }),
    svg("path", { class: "area", d: `${path}L${px(end)},${py(0)}L${px(0)},${py(0)}Z` }),
    svg("path", { class: "curve", d: path }),
    ...(known ? [svg("circle", { class: "now", cx: px(at), cy: py(share(kind, threshold, utility, now)), r: 4 })] : []),
    ...marks(kind, threshold, end, px).map(([value, anchor]) => label(px(value), bottom + 15, quantity(kind, value), anchor)),
  );
}

function marks(kind, threshold, end, px) {
  const found = [[threshold, px(end) - px(threshold) < LABEL_PX / 2 ? "end" : "middle"]];
  if (px(threshold) - px(0) > LABEL_PX) found.unshift([0, "middle"]);
  if (px(end) - px(threshold) > LABEL_PX) found.push([end, "end"]);
  return found;
}

function said({ kind, threshold, utility, most, now }) {
  const place = `${kind} ${kind === "latency" ? "up to" : "from"} ${quantity(kind, threshold)}`;
  const shape = utility.shape === "points" ? utility.points.map(([value, part]) => `${quantity(kind, value)} gives ${worth(part * most)}`).join(", ") : utility.shape;
  const current = Number.isFinite(now) ? `; now ${quantity(kind, now)} gives ${worth(share(kind, threshold, utility, now) * most)}` : "";
  return `Utility: all of ${worth(most)} for ${place}; ${shape}${current}`;
}

function quantity(kind, value) {
  if (value === 0) return "0";
  return kind === "latency" ? text(duration(value)).replace(/\.0+(?=\u00a0)/, "") : String(Number(value.toPrecision(3)));
}
