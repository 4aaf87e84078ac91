/** Round places for the marks of the axes, with their labels. */

import { bytes, count, percent, tick } from "../core/format.js";
import { aheadOfUtcMs, clockTime, dayOrHour, dayOnly, hourMinute, windowTime } from "../core/times.js";

const HOUR_MS = 3.6e6;
const DAY_MS = 24 * HOUR_MS;
const TIME_STEPS_MS = [
  50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1.5e4, 3e4, 6e4, 1.2e5, 3e5, 6e5, 9e5, 1.8e6,
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 5, 7].map((days) => days * DAY_MS),
];

/** Marks for twice the range on either side, so that there are some while the user pans. */
export function timeMarks([startMs, endMs], wanted, zone) {
  const span = endMs - startMs;
  const step = TIME_STEPS_MS.find((ms) => span / ms <= wanted) ?? TIME_STEPS_MS.at(-1);
  const label = labelOf(step);
  // Hours and days begin where the zone says; the offset may change within a month.
  const shifted = (at) => (step >= HOUR_MS ? at - aheadOfUtcMs(at, zone) : at);
  const values = [];
  for (let at = Math.ceil((startMs - span) / step) * step; at <= endMs + span; at += step) {
    values.push(shifted(at));
  }
  return { values, labels: values.map((at) => label(at, zone)) };
}

function labelOf(step) {
  if (step >= DAY_MS) return dayOnly;
  if (step >= HOUR_MS) return dayOrHour;
  if (step >= 60_000) return hourMinute;
  return step >= 1000 ? clockTime : windowTime;
}

/** A latency axis that ends on a round value, so that it does not creep with every redraw. */
export function latencyAxis(low, high, scale) {
  if (!(high > 0)) return scale === "log" ? logAxis(10, 1000) : linearAxis(1000);
  return scale === "log" ? logAxis(low > 0 ? low : high / 100, high) : linearAxis(high);
}

/** Percent of a host: always the whole of it. */
export function shareAxis() {
  return { type: "linear", range: [0, 103], values: [0, 50, 100], labels: ["0", "50 %", "100 %"] };
}

/** Percent of one core, of which an executor may have several. */
export function coresAxis({ high }) {
  return fromZero(high > 100 ? roundUp(high, [1, 2, 4, 6, 8]) : 100, (top) => round(percent(top)));
}

/** Percent from zero, with the round value above the highest. */
export function weightAxis({ high }) {
  return fromZero(high > 0 ? roundUp(high, [1, 2, 4, 5, 6, 8]) : 100, (top) => round(percent(top)));
}

/** Whole numbers from zero, with the round value above the highest. */
export function countAxis({ high }) {
  return fromZero(high > 0 ? Math.max(2, roundUp(high, [1, 2, 4, 6, 8])) : 2, (top) => round(count(top)));
}

/** Bytes from zero, with the next power of two above the highest, or one and a half of it. */
export function bytesAxis({ high }) {
  const power = high > 0 ? 2 ** Math.floor(Math.log2(high)) : 2 ** 20;
  const top = [1, 1.5, 2].map((place) => place * power).find((candidate) => candidate >= high);
  return fromZero(top, (value) => round(bytes(value)));
}

/** Durations from zero. */
export function stemAxis({ high }) {
  return fromZero(high > 0 ? roundUp(high, [1, 2, 5]) : 10, label);
}

// Marks are round: no trailing zeros.
function round({ value, unit }) {
  return `${Number(value)} ${unit}`.trim();
}

function fromZero(top, says) {
  return { type: "linear", range: [0, top * 1.06], values: [0, top], labels: ["0", says(top)] };
}

function linearAxis(high) {
  const step = roundUp(high / 5, [1, 2, 2.5, 5]);
  const top = Math.ceil((high * 1.02) / step) * step;
  const values = [];
  for (let i = 0; i * step <= top * 1.0001; i += 1) values.push(i * step);
  return { type: "linear", range: [0, top], values, labels: values.map(label) };
}

function logAxis(low, high) {
  const bottom = roundDown(low, [1, 2, 5]);
  // At least a decade, or a calm job's noise looks like drama.
  const top = Math.max(roundUp(high * 1.05, [1, 1.5, 2, 3, 5, 7]), bottom * 10);
  const values = [];
  const places = Math.log10(top / bottom) > 3.5 ? [1] : [1, 2, 5];
  for (let decade = 10 ** Math.floor(Math.log10(bottom)); decade <= top; decade *= 10) {
    for (const place of places) {
      const value = place * decade;
      if (value >= bottom * 0.999 && value <= top * 1.001) values.push(value);
    }
  }
  return {
    type: "log",
    range: [Math.log10(bottom), Math.log10(top)],
    values,
    labels: values.map(label),
  };
}

function label(ms) {
  return ms === 0 ? "0" : tick(ms);
}

function roundUp(number, places) {
  const decade = 10 ** Math.floor(Math.log10(number));
  const place = [...places, 10].find((candidate) => candidate * decade >= number * 0.9999);
  return place * decade;
}

function roundDown(number, places) {
  const decade = 10 ** Math.floor(Math.log10(number));
  return places.findLast((candidate) => candidate * decade <= number * 1.0001) * decade;
}
