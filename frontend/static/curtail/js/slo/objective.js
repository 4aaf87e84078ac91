/** A job's SLO in words. */

import { duration, NOTHING } from "../core/format.js";

const STATISTIC_NAMES = { mean: "mean", p95: "p95", p99: "p99", p999: "p99.9" };

/** "p99 committed ≤ 500 ms" */
export function latencyWords({ of, statistic, threshold_ms: ms }) {
  return `${STATISTIC_NAMES[statistic]} ${of} ≤\u00a0${exact(ms)}`;
}

export function juiceWords({ threshold }) {
  return `juice ≥\u00a0${threshold}`;
}

/** "p99 committed ≤ 500 ms · juice ≥ 0.95 · priority 35" */
export function objectiveWords(objective) {
  if (!objective) return "none";
  return `${targetWords(objective)} · priority\u00a0${objective.priority}`;
}

/** "p99 committed ≤ 500 ms · juice ≥ 0.95" */
export function targetWords({ latency, juice }) {
  return [latency && latencyWords(latency), juice && juiceWords(juice)].filter(Boolean).join(" · ");
}

/** A utility with its decimals: "28.6", "0.35"; whole ones stay whole. */
export function utility(value) {
  if (!Number.isFinite(value)) return NOTHING;
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

// What somebody typed is shown as typed: 1234 ms is not 1.23 s.
function exact(ms) {
  const { value, unit } = duration(ms);
  const [, size] = [["ms", 1], ["s", 1e3], ["min", 6e4], ["h", 3.6e6]].find(([name]) => name === unit);
  return Number(value) * size === ms ? `${Number(value)}\u00a0${unit}` : `${ms}\u00a0ms`;
}
