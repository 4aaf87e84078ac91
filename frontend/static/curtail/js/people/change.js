/** What an audit entry changed: its before and after as lines "field, from, to". */

import { duration, text } from "../core/format.js";
import { date } from "../core/times.js";

// Larger values are epoch milliseconds of this century: no duration is thirty years long.
const EPOCH_MS = 1e12;

/** → [{field, from, to}], without what stayed; null stands for what was not there. */
export function changes(before, after) {
  const from = flat(before);
  const to = flat(after);
  const fields = [...new Set([...from.keys(), ...to.keys()])];
  return fields
    .map((field) => ({ field, from: from.get(field) ?? null, to: to.get(field) ?? null }))
    .filter(({ from: was, to: is }) => JSON.stringify(was) !== JSON.stringify(is));
}

/** "expires_ms" → "expires"; "p99_ms" → "p99" */
export function fieldName(field) {
  return field.replace(/_ms$/, "").replaceAll("_", " ");
}

export function shown(field, value, zone) {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.length ? value.map((each) => shown(field, each, zone)).join(", ") : "none";
  if (field.endsWith("_ms") && typeof value === "number") {
    return value > EPOCH_MS ? date(value, zone) : text(duration(value));
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function flat(value, path = "", found = new Map()) {
  if (value === null || value === undefined) return found;
  if (typeof value === "object" && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) flat(inner, path ? `${path}.${name}` : name, found);
  } else {
    found.set(path, value);
  }
  return found;
}
