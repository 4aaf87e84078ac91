/** How a job stands to its SLO, as words for a line or a table; null is what nobody has measured. */

import { duration, NOTHING, text } from "../core/format.js";
import { utility } from "./objective.js";
import { share } from "./utility.js";

export const BURN = "How fast the error budget goes: at 1× it is just used up in the end, above that before";

/** `ratio`: how many times the worst target is missed. */
export function isMet({ ratio }) {
  return Number.isFinite(ratio) ? ratio <= 1 : null;
}

export function metWord(met) {
  return met === null ? "not measured yet" : met ? "met" : "missed";
}

/** The utility of the values measured last; null while one of them is not. */
export function utilityNow({ objective: { latency, juice, priority }, latency_ms: latencyMs, juice: processed }) {
  const shares = [];
  if (latency) shares.push(Number.isFinite(latencyMs) ? share("latency", latency.threshold_ms, latency.utility, latencyMs) : NaN);
  if (juice) shares.push(Number.isFinite(processed) ? share("juice", juice.threshold, juice.utility, processed) : NaN);
  const mean = shares.reduce((sum, part) => sum + part, 0) / shares.length;
  return Number.isNaN(mean) ? null : mean * priority;
}

/** "28.6 of 35" */
export function utilityWords(value, most) {
  return `${utility(value)} of\u00a0${utility(most)}`;
}

/** "1.4×" */
export function burnWords(rate) {
  if (!Number.isFinite(rate)) return NOTHING;
  if (rate > 0 && rate < 0.01) return "<0.01×";
  return `${Number(rate >= 100 ? rate.toFixed(0) : rate.toPrecision(2))}×`;
}

export function latencyNow(ms) {
  return text(duration(ms));
}

/** "0.97" */
export function juiceNow(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(3))) : NOTHING;
}
