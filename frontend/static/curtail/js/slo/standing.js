/** How a job stands to its SLO, as words for a line or a table; null is what nobody has measured. */

import { duration, NOTHING, text } from "../core/format.js";
import { utility } from "./objective.js";

export const BURN = "How fast the error budget goes: at 1× it is just used up in the end, above that before";

/** `ratio`: how many times the worst target is missed. */
export function isMet({ ratio }) {
  return Number.isFinite(ratio) ? ratio <= 1 : null;
}

export function metWord(met) {
  return met === null ? "not measured yet" : met ? "met" : "missed";
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
