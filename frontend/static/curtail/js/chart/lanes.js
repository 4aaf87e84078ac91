/**
 * Single intervals as thin lines, one lane per instance (as in Figure 7 of the ShadowSync paper).
 *
 * Each function gives lanes from top to bottom: [{key?, label, look, items: [[startMs, endMs]]}]. One
 * with a key is hidden with the series of that key. A lane may have `parts` [{look, items}] that
 * look different.
 */

import { PHASES } from "./phases.js";

/** Narrower than this, a flush of a few milliseconds is wide enough to be seen. */
export const LANES_BELOW_MS = 20_000;

const LANE_PX = 8;
const FEWEST_PX = 40;
const MOST_PX = 280;

/** The height of a panel with that many lanes: a few hundred stores share what there is. */
export function lanesPx(number) {
  return Math.min(MOST_PX, Math.max(FEWEST_PX, number * LANE_PX));
}

/** Flushes or compactions: a lane per operator and partition. */
export function byStore(kind) {
  return ({ intervals, range }) =>
    grouped(
      intervals.within(kind, ...range),
      ({ operator, partition }) => `${operator ?? "?"}/${partition ?? "?"}`,
      ({ operator, partition }) => (operator ?? -1) * 1e6 + (partition ?? -1),
      { colour: kind, width: 2.5 },
    );
}

export function byExecutor(kind) {
  return ({ intervals, range }) =>
    grouped(
      intervals.within(kind, ...range),
      ({ executor }) => executor || "driver",
      ({ executor }) => (Number.isInteger(Number(executor)) ? Number(executor) : Infinity),
      { colour: kind, width: 3 },
    );
}

/** The whole batch on top, then its phases. */
export function byPhase({ intervals, range }) {
  const batches = intervals.within("batch", ...range);
  if (batches.length === 0) return [];
  const phases = intervals.within("phase", ...range);
  const lane = (key, label, colour, items) => ({ key, label, look: { colour, width: 4 }, items: items.map(ends) });
  return [
    lane(null, "whole", "ink", batches),
    ...PHASES.map(({ name, colour }) => lane(`phase ${name}`, "", colour, phases.filter((phase) => phase.name === name))),
  ];
}

function grouped(items, label, order, look) {
  const lanes = new Map();
  for (const item of items) {
    const name = label(item);
    if (!lanes.has(name)) lanes.set(name, { label: name, order: order(item), look, items: [] });
    lanes.get(name).items.push(ends(item));
  }
  return [...lanes.values()].sort((a, b) => a.order - b.order || a.label.localeCompare(b.label));
}

function ends({ start_ms, end_ms }) {
  return [start_ms, end_ms];
}
