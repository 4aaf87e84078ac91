/** Bars from zero, one under the other: a label may be long, and a phone is narrow. */

import { label, quantity, scale, svg } from "./svg.js";

const ROW_PX = 38;
const BAR_PX = 12;
// Room for the value after the longest bar.
const VALUE_PX = 84;

export const has = ({ bars }) => (bars ?? []).length > 0;

export const words = ({ bars }) => bars.map(({ says }) => says);

export function draw({ y: { unit }, bars }, width) {
  const values = bars.map(({ value }) => value);
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const px = scale([low, high > low ? high : low + 1], [0, Math.max(40, width - VALUE_PX)]);
  const rows = bars.flatMap((bar, i) => {
    const top = i * ROW_PX;
    const [from, to] = [px(Math.min(0, bar.value)), px(Math.max(0, bar.value))];
    return [
      label(0, top + 12, bar.label),
      svg("rect", { class: "bar", x: from, y: top + 18, width: Math.max(1, to - from), height: BAR_PX }, svg("title", {}, bar.says)),
      label(to + 6, top + 28, quantity(bar.value, unit)),
    ];
  });
  return svg("svg", { width, height: bars.length * ROW_PX, "aria-hidden": "true" }, ...rows);
}
