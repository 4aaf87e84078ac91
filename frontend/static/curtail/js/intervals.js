/**
 * Intervals of the last 15 minutes: GC pauses and what else has a start and an end.
 *
 * They come once live and again with every refill, so each is kept under who, what and when.
 */

import { KEPT_MS } from "./ring.js";

export class Intervals {
  #byKey = new Map();
  #newestMs = 0;

  put(items) {
    for (const item of items) {
      this.#byKey.set(`${item.kind} ${item.executor} ${item.operator} ${item.partition} ${item.start_ms}`, item);
      if (item.end_ms > this.#newestMs) this.#newestMs = item.end_ms;
    }
    this.#forget();
  }

  get size() {
    return this.#byKey.size;
  }

  /** Those of a kind that overlap the range. */
  within(kind, startMs, endMs) {
    const found = [];
    for (const item of this.#byKey.values()) {
      if (item.kind === kind && item.start_ms < endMs && item.end_ms >= startMs) found.push(item);
    }
    return found;
  }

  #forget() {
    for (const [key, item] of this.#byKey) {
      if (item.end_ms < this.#newestMs - KEPT_MS) this.#byKey.delete(key);
    }
  }
}
