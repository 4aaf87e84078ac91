/**
 * What is in view and where its data is: in the live ring, in a copy of it from when the user
 * paused, or in a block of history that was fetched because the ring does not reach back so far.
 */

import { Intervals } from "./intervals.js";
import { KEPT_MS, WindowRing } from "./ring.js";
import { View } from "./view.js";

/** As long as the collector keeps frames in Redis. */
export const RETENTION_MS = 60 * 60 * 1000;
const SHORTEST_MS = 500;
const RETRY_MS = 3000;

export class Scene {
  /** `blockMs`: how much of the past is fetched at once; most is what one request may ask for. */
  constructor(spanMs, { fetchWindows, nowMs, onChange, blockMs = KEPT_MS }) {
    this.blockMs = blockMs;
    this.fetchWindows = fetchWindows;
    this.nowMs = nowMs;
    this.onChange = onChange;
    this.view = new View(spanMs);
    this.ring = new WindowRing();
    this.intervals = new Intervals();
    this.still = null; // {ring, intervals} as they were when the user paused
    this.past = null; // {ring, intervals, range, state: loading | there | failed}
  }

  take(batch, skip) {
    this.ring.put(batch, skip);
    this.intervals.put(batch.activities);
    this.still?.ring.put(batch, skip);
    // Missing windows are put into the copy as well; it ignores windows newer than itself.
    if (skip && this.still) this.still.intervals.put(batch.activities.filter(({ start_ms }) => start_ms < this.still.ring.lastMs));
  }

  get paused() {
    return this.view.paused;
  }

  get range() {
    return this.view.range(this.nowMs(), this.ring.lastMs);
  }

  /** {ring, intervals, range, state}: what to draw now. */
  get shown() {
    const range = this.range;
    if (!this.paused) return { ring: this.ring, intervals: this.intervals, range, state: "there" };
    if (this.past) return { ...this.past, range };
    return { ...this.still, range, state: "there" };
  }

  /** The oldest time that may still be fetched. */
  get oldestMs() {
    return Math.min(this.nowMs(), this.ring.lastMs ?? Infinity) - RETENTION_MS;
  }

  follow() {
    this.view.follow();
    this.still = this.past = null;
    this.onChange();
  }

  pause(range = this.range) {
    const held = this.#within(range);
    // Something newer has come since the pause, and the user wants to see it.
    if (this.still && held[1] > (this.still.ring.lastMs ?? 0)) this.still = null;
    this.still ??= { ring: this.ring.freeze(), intervals: this.intervals.freeze() };
    this.view.pause(held);
    if (this.still.ring.reaches(held[0])) this.past = null;
    else this.#load(held);
    this.onChange();
  }

  /** Changes the width of the view; the right edge of a paused view stays. */
  setSpan(spanMs) {
    this.view.spanMs = spanMs;
    if (this.paused) this.pause([this.range[1] - spanMs, this.range[1]]);
    else this.onChange();
  }

  /** Half as much in view, or twice as much, around the middle; live, at the right edge. */
  zoom(factor) {
    const [startMs, endMs] = this.range;
    const size = (endMs - startMs) * factor;
    const middle = this.paused ? (startMs + endMs) / 2 : endMs - size / 2;
    this.pause([middle - size / 2, middle + size / 2]);
  }

  pan(share) {
    const [startMs, endMs] = this.range;
    const step = (endMs - startMs) * share;
    this.pause([startMs + step, endMs + step]);
  }

  /** Puts a moment in the middle of the view. */
  jump(atMs) {
    const half = this.view.spanMs / 2;
    this.pause([atMs - half, atMs + half]);
  }

  /** Fetches what is in view again: more of it may have come since. */
  reload() {
    if (!this.paused) return;
    this.past = null;
    this.pause(this.range);
  }

  #within([startMs, endMs]) {
    const size = Math.min(KEPT_MS, Math.max(SHORTEST_MS, endMs - startMs));
    const middle = (startMs + endMs) / 2;
    const latest = this.nowMs();
    const start = Math.max(this.oldestMs, Math.min(middle - size / 2, latest - size));
    return [start, start + size];
  }

  async #load([startMs, endMs]) {
    const known = this.past;
    if (known && known.state !== "failed" && known.range[0] <= startMs && known.range[1] >= Math.floor(endMs)) return;
    // More on either side than is in view, so that panning needs no fetch.
    const sizeMs = Math.min(KEPT_MS, Math.max(this.blockMs, Math.ceil(endMs - startMs) + 1));
    const beginMs = Math.max(0, Math.floor((startMs + endMs - sizeMs) / 2));
    const range = [beginMs, beginMs + sizeMs];
    const past = { ring: new WindowRing(), intervals: new Intervals(), range, state: "loading" };
    this.past = past;
    try {
      const batch = await this.fetchWindows(...range);
      past.ring.put(batch);
      past.intervals.put(batch.activities);
      past.state = "there";
    } catch {
      past.state = "failed";
      setTimeout(() => this.past === past && this.paused && this.pause(this.range), RETRY_MS);
    }
    if (this.past === past) this.onChange();
  }
}
