/** The current numbers. None is an average of percentiles: each names the one window it is from. */

/** The highest value of a column in the range and the window it is from, or null. */
export function worst(ring, name, startMs, endMs) {
  const { from, to } = ring.span(startMs, endMs);
  let found = null;
  for (let number = from; number < to; number += 1) {
    const value = ring.value(name, number);
    if (!Number.isNaN(value) && (found === null || value > found.value)) {
      found = { value, atMs: number * ring.windowMs };
    }
  }
  return found;
}

/** Rows per second over the range, or null where no window says how many. */
export function rowRate(ring, startMs, endMs) {
  const { from, to } = ring.span(startMs, endMs);
  let rows = null;
  for (let number = from; number < to; number += 1) {
    const value = ring.value("rows_in", number);
    if (!Number.isNaN(value)) rows = (rows ?? 0) + value;
  }
  return rows === null ? null : (rows * 1000) / (endMs - startMs);
}

/** The host with the highest mean CPU over the range, or null. */
export function busiestHost(ring, startMs, endMs) {
  const { from, to } = ring.span(startMs, endMs);
  let found = null;
  for (const host of ring.names("cpu")) {
    let sum = 0, held = 0;
    for (let number = from; number < to; number += 1) {
      const value = ring.of("cpu", host, number);
      if (Number.isNaN(value)) continue;
      sum += value;
      held += 1;
    }
    if (held && (found === null || sum / held > found.value)) found = { host, value: sum / held };
  }
  return found;
}

/** The window to read out under a cursor: the worst in reach, so a 50 ms spike can be hit. */
export function windowNear(ring, atMs, reachMs, column = "p999") {
  const found = worst(ring, column, atMs - reachMs, atMs + reachMs);
  const number = Math.floor((found?.atMs ?? atMs) / ring.windowMs);
  const { from, to } = ring.span(number * ring.windowMs, (number + 1) * ring.windowMs);
  return from < to ? number : null;
}
