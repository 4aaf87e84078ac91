/**
 * Intervals of the last 15 minutes: flushes, compactions, GC pauses, batches and their phases.
 *
 * They come once live and again with every refill, so each is stored under place, kind and time. Per
 * kind they are sorted by their end: they are stored when they end, so most come in that order.
 */

import { KEPT_MS } from "./ring.js";

// Tasks come by the thousand and are not drawn.
const KINDS = ["flush", "compaction", "gc", "batch", "phase"];
// Old ones are removed in bulk: shifting a whole list for each would be slow.
const BUNCH = 256;

export class Intervals {
  #byKind = new Map(KINDS.map((kind) => [kind, { keys: new Set(), items: [] }]));
  #newestMs = 0;

  put(items) {
    const unsorted = new Set();
    for (const item of items) {
      const kept = this.#byKind.get(item.kind);
      if (!kept || kept.keys.has(keyOf(item))) continue;
      kept.keys.add(keyOf(item));
      if (kept.items.length && kept.items.at(-1).end_ms > item.end_ms) unsorted.add(kept);
      kept.items.push(item);
      if (item.end_ms > this.#newestMs) this.#newestMs = item.end_ms;
    }
    for (const kept of unsorted) kept.items.sort((a, b) => a.end_ms - b.end_ms);
    for (const kept of this.#byKind.values()) this.#forget(kept);
  }

  get size() {
    let size = 0;
    for (const { items } of this.#byKind.values()) size += items.length;
    return size;
  }

  /** Those of a kind that overlap the range, by their end. */
  within(kind, startMs, endMs) {
    const { items } = this.#byKind.get(kind);
    const found = [];
    for (let i = firstEndingAt(items, startMs); i < items.length; i += 1) {
      if (items[i].start_ms < endMs) found.push(items[i]);
    }
    return found;
  }

  /** A copy; it forgets nothing unless something is added to it. */
  freeze() {
    const copy = new Intervals();
    for (const [kind, { keys, items }] of this.#byKind) {
      copy.#byKind.set(kind, { keys: new Set(keys), items: [...items] });
    }
    copy.#newestMs = this.#newestMs;
    return copy;
  }

  #forget({ keys, items }) {
    const old = firstEndingAt(items, this.#newestMs - KEPT_MS);
    if (old < BUNCH) return;
    for (const item of items.splice(0, old)) keys.delete(keyOf(item));
  }
}

function keyOf({ kind, executor, operator, partition, name, start_ms }) {
  return `${kind} ${executor} ${operator} ${partition} ${name} ${start_ms}`;
}

function firstEndingAt(items, ms) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].end_ms < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
