/** Arrows over a grid, one per shift: from where a thing was to where it is, within its column. */

import { svg } from "./svg.js";

// All in cells.
const RING = 0.16;
const GAP = 0.06;
const HEAD = 0.2;
// A move fades until it is that old, and no further: it is still to be seen.
const FADES_S = 60;
const FAINTEST = 0.45;

export function moves(grid, side) {
  const { rows, columns, cells, shifts } = grid;
  const half = (row, column) => {
    const cell = cells.find((each) => each.row === row && each.column === column);
    return cell ? side(grid, cell) / 2 + GAP : 0;
  };
  // The newest last, over the others.
  const arrows = [...shifts].sort((a, b) => b.ago_s - a.ago_s).map((shift) => arrow(shift, half));
  return svg("svg", { class: "moves", viewBox: `0 0 ${columns.length} ${rows.length}`, "aria-hidden": "true" }, ...arrows);
}

function arrow({ column, from_row: from, to_row: to, says, ago_s: agoS }, half) {
  const x = column + 0.5;
  const down = Math.sign(to - from);
  const start = from + 0.5 + down * (half(from, column) || RING);
  const tip = to + 0.5 - down * half(to, column);
  const path = `M${x},${start}L${x},${tip}M${x - HEAD},${tip - down * HEAD}L${x},${tip}L${x + HEAD},${tip - down * HEAD}`;
  return svg(
    "g",
    { class: "move", opacity: opacity(agoS) },
    svg("title", {}, says),
    svg("path", { class: "halo", d: path }),
    half(from, column) ? "" : svg("circle", { cx: x, cy: from + 0.5, r: RING }),
    svg("path", { d: path }),
  );
}

export function opacity(agoS) {
  return Math.max(FAINTEST, 1 - ((agoS ?? 0) / FADES_S) * (1 - FAINTEST));
}
