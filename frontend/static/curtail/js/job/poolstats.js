/**
 * The current numbers of an operator pool, from its windows before a moment.
 *
 * Nothing is an average of percentiles, and of queues the longest counts: one that is full for a
 * moment is seen.
 */

/** The length of "the last seconds". */
export const RECENT_MS = 10_000;
/** Replays are rare: over this long, their share of the chunks is steady enough to be read. */
export const REPLAYS_MS = 60_000;
/** A queue now is the longest of one second: at five drawings a second single windows flicker. */
const NOW_MS = 1000;
/** A pool that is in no window for so long is gone. */
const GONE_MS = 5000;
const BUSY_PERCENT = 90;
const BEHIND_CHUNKS = 2;
// An instance that is busy without finishing a chunk for fewer windows is not called stuck yet.
const STUCK_WINDOWS = 190;
const LEAST_SCALE = 10;

/**
 * {…pool, goneMs, held, shared, timeout, replays, scale,
 *  operators: [{name, instances: [{name, state, queued, busy, rate, p99, weight, parked, sends}]}]}
 */
export function poolNow(ring, pool, endMs) {
  const instances = pool.instances.map((each) => instanceNow(ring, pool, each, endMs));
  const lastMs = pool.newest * ring.windowMs;
  return {
    ...pool,
    goneMs: endMs - lastMs > GONE_MS ? lastMs : null,
    held: highest(ring, "pool_held", pool.key, endMs - NOW_MS, endMs)?.value ?? null,
    shared: highest(ring, "pool_shared", pool.key, endMs - NOW_MS, endMs)?.value ?? null,
    timeout: latest(ring, "pool_timeout", pool.key, endMs - NOW_MS, endMs),
    replays: replaysOf(ring, pool.key, endMs),
    scale: roundScale(Math.max(...instances.map(({ longest }) => longest ?? 0))),
    operators: pool.operators.map((name) => ({ name, instances: instances.filter(({ operator }) => operator === name) })),
  };
}

/** {chunks, sentAgain, won, cost}: of the last minute, `cost` in percent; null where nothing was sent. */
function replaysOf(ring, key, endMs) {
  const of = (column) => sum(ring, `pool_${column}`, key, endMs - REPLAYS_MS, endMs)?.total ?? 0;
  const [chunks, sentAgain, won] = [of("sent"), of("replayed"), of("won")];
  return chunks > 0 ? { chunks, sentAgain, won, cost: (100 * sentAgain) / chunks } : null;
}

function instanceNow(ring, pool, { key, name, operator, state }, endMs) {
  const startMs = endMs - RECENT_MS;
  const busy = sum(ring, "pool_busy", key, startMs, endMs);
  const executed = sum(ring, "pool_executed", key, startMs, endMs);
  const numbers = {
    queued: highest(ring, "pool_queued", key, endMs - NOW_MS, endMs)?.value ?? null,
    longest: highest(ring, "pool_queued", key, startMs, endMs)?.value ?? null,
    busy: mean(busy),
    rate: executed && (executed.total * 1000) / (executed.windows * ring.windowMs),
    p99: highest(ring, "pool_p99", key, startMs, endMs),
    weight: latest(ring, "pool_weight", key, endMs - NOW_MS, endMs),
    parked: highest(ring, "pool_parked", key, endMs - NOW_MS, endMs)?.value ?? null,
    // Signals change several times a second: which share of the last seconds it was allowed to send.
    sends: mean(sum(ring, "pool_signal", key, startMs, endMs), 100),
  };
  // Which state it was in is only known of the newest window.
  const known = Math.abs(endMs - pool.newest * ring.windowMs) <= GONE_MS;
  return { key, name, operator, state: instanceState(known ? state : null, numbers, executed), ...numbers };
}

/** The word for an instance's state; for a ready one, whether it keeps up. */
function instanceState(state, { queued, busy }, executed) {
  if (state !== "ready") return state;
  if (!(busy >= BUSY_PERCENT)) return state;
  if (executed.total === 0 && executed.windows >= STUCK_WINDOWS) return "stuck";
  return queued >= BEHIND_CHUNKS ? "behind" : state;
}

/** The end of the bars: a round number, the same for the whole pool. */
export function roundScale(longest) {
  let scale = LEAST_SCALE;
  for (let i = 0; scale < longest; i += 1) scale *= i % 3 === 1 ? 2.5 : 2;
  return scale;
}

function highest(ring, group, key, startMs, endMs) {
  let found = null;
  each(ring, group, key, startMs, endMs, (value, number) => {
    if (found === null || value > found.value) found = { value, atMs: number * ring.windowMs };
  });
  return found;
}

function sum(ring, group, key, startMs, endMs) {
  let total = 0;
  let windows = 0;
  each(ring, group, key, startMs, endMs, (value) => {
    total += value;
    windows += 1;
  });
  return windows ? { total, windows } : null;
}

function mean(found, times = 1) {
  return found && (times * found.total) / found.windows;
}

function latest(ring, group, key, startMs, endMs) {
  let found = null;
  each(ring, group, key, startMs, endMs, (value) => (found = value));
  return found;
}

function each(ring, group, key, startMs, endMs, take) {
  if (!ring.holds(group, key)) return;
  const { from, to } = ring.span(startMs, endMs);
  for (let number = from; number < to; number += 1) {
    const value = ring.of(group, key, number);
    if (!Number.isNaN(value)) take(value, number);
  }
}
