/** The evidence of an incident in words. */

import { count, duration, text } from "../core/format.js";

const TOO_SMALL = 1e-12;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const LARGE = [[1e9, "billion"], [1e6, "million"]];

/** 0.00031 → "1 in 3200"; a chance of one half and more → "as likely as not" */
export function odds(chance) {
  if (!Number.isFinite(chance)) return "not known";
  if (chance >= 0.5) return "as likely as not";
  if (chance < TOO_SMALL) return "less than 1 in a trillion";
  const every = Number((1 / chance).toPrecision(2));
  for (const [size, name] of LARGE) {
    if (every >= size) return `1 in ${Number((every / size).toPrecision(2))} ${name}`;
  }
  // A narrow no-break space between thousands, from five digits on.
  return `1 in ${every < 10_000 ? every : every.toLocaleString("en-GB").replaceAll(",", "\u202f")}`;
}

/** "1 in 3200 (p = 0.00031)", "1 in 270 000 (p = 3.7 × 10⁻⁶)" */
export function chance(value) {
  const p = Number(value);
  return p < TOO_SMALL ? odds(p) : `${odds(p)} (p = ${digits(p)})`;
}

function digits(p) {
  if (p >= 1e-4) return String(Number(p.toPrecision(2)));
  const [front, power] = p.toExponential(1).split("e-");
  return `${Number(front)} × 10⁻${[...power].map((digit) => RAISED[digit]).join("")}`;
}

/** The evidence as [[term, value]]; p-values and probabilities are put in words. */
export function factsOf({ evidence }) {
  const { facts } = evidence ?? {};
  if (!Array.isArray(facts)) return Object.entries(evidence ?? {}).map(([name, value]) => [name.replace(/_ms$/, "").replaceAll("_", " "), says(value, name)]);
  return facts.map(({ name, value }) => [capital(name), isChance(name, value) ? chance(value) : value]);
}

/** "stage 0", "stages 0 and 1", "executor 1", or nothing */
export function places({ evidence }) {
  const said = [];
  for (const [noun, names] of [["stage", evidence?.operators], ["executor", evidence?.executors]]) {
    if (names?.length) said.push(`${noun}${names.length > 1 ? "s" : ""} ${names.join(" and ")}`);
  }
  return said.join(", ");
}

/** The occurrences that the detector last reported, oldest first: [[startMs, endMs]]. */
export function spansOf({ evidence, onset_ms, end_ms }) {
  const spans = evidence?.spans_ms;
  return spans?.length ? spans : [[onset_ms, end_ms ?? onset_ms]];
}

// Detectors name a chance as statistics does: "p-value: p99 as high at other times".
function isChance(name, value) {
  return /^(p-value|probability)\b/.test(name) && Number.isFinite(Number(value));
}

function capital(words) {
  // "p99" is a name, not a word.
  return /^p\d/.test(words) ? words : words[0].toUpperCase() + words.slice(1);
}

/** A plain value as text; its unit is the ending of its name. */
function says(value, name) {
  if (Array.isArray(value)) return value.map((each) => says(each, name)).join(", ");
  if (value !== null && typeof value === "object") return Object.entries(value).map(([inner, each]) => `${inner} ${says(each, inner)}`).join(", ");
  if (typeof value !== "number") return String(value);
  return text(name.endsWith("_ms") ? duration(value) : count(value));
}
