/**
 * What is in view and where its data is: in the live ring, in a copy of it from when the user
 * paused, or in a block of the past that was fetched because the ring does not reach back so far.
 * A view that is wider than the ring is of steps instead of windows: of seconds, minutes or hours.
 */

import { Intervals } from "./intervals.js";
import { KEPT_MS, WindowRing } from "./ring.js";
import { View } from "./view.js";

/** As long as the collector keeps frames in Redis; the archive, if there is one, keeps days. */
export const RETENTION_MS = 60 * 60 * 1000;
/** The widest view. */
export const WIDEST_MS = 31 * 24 * RETENTION_MS;
const SHORTEST_MS = 500;
const RETRY_MS = 3000;
// Steps are fetched with a quarter of the view on either side, and anew when they are too coarse.
const STEPS_AROUND = 1.5;
const TOO_COARSE = 4;

export class Scene {
  /**
   * `blockMs`: how much of the past is fetched at once; most is what one request may ask for.
   * `reachMs`: how far back there may be any. Without `fetchSteps` no view is wider than the ring.
   */
  constructor(spanMs, { fetchWindows, fetchSteps = null, nowMs, onChange, blockMs = KEPT_MS, reachMs = RETENTION_MS }) {
    this.blockMs = blockMs;
    this.reachMs = reachMs;
    this.widestMs = fetchSteps ? Math.min(reachMs, WIDEST_MS) : KEPT_MS;
    this.fetchWindows = fetchWindows;
    this.fetchSteps = fetchSteps;
    this.nowMs = nowMs;
    this.onChange = onChange;
    this.view = new View(spanMs);
    this.ring = new WindowRing();
    this.intervals = new Intervals();
    this.still = null; // {ring, intervals} as they were when the user paused
    this.past = null; // {ring, intervals, range, state: loading | there | failed, missing, incomplete}
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
    return Math.min(this.nowMs(), this.ring.lastMs ?? Infinity) - this.reachMs;
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
    const wide = held[1] - held[0] > KEPT_MS;
    if (!wide && this.still.ring.reaches(held[0])) this.past = null;
    else this.#load(held, wide);
    this.onChange();
  }

  /** Changes the width of the view; its right edge stays. One of steps holds still. */
  setSpan(spanMs) {
    const wide = spanMs > KEPT_MS;
    if (!wide) this.view.spanMs = spanMs;
    if (this.paused || wide) this.pause([this.range[1] - spanMs, this.range[1]]);
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
    const size = Math.min(this.widestMs, Math.max(SHORTEST_MS, endMs - startMs));
    const middle = (startMs + endMs) / 2;
    const latest = this.nowMs();
    const start = Math.max(this.oldestMs, Math.min(middle - size / 2, latest - size));
    return [start, start + size];
  }

  async #load([startMs, endMs], wide) {
    if (this.#has([startMs, endMs], wide)) return;
    const range = wide ? this.#stepsAround([startMs, endMs]) : this.#windowsAround([startMs, endMs]);
    const past = { ring: new WindowRing(), intervals: new Intervals(), range, state: "loading", wide, missing: [], incomplete: null };
    this.past = past;
    try {
      const batch = await (wide ? this.fetchSteps : this.fetchWindows)(...range);
      if (wide) past.ring = ringOfSteps(batch, range);
      past.ring.put(batch);
      past.intervals.put(batch.activities ?? []);
      past.missing = batch.missing ?? [];
      past.incomplete = batch.incomplete ?? null;
      past.state = "there";
    } catch {
      past.state = "failed";
      setTimeout(() => this.past === past && this.paused && this.pause(this.range), RETRY_MS);
    }
    if (this.past === past) this.onChange();
  }

  #has([startMs, endMs], wide) {
    const known = this.past;
    if (!known || known.state === "failed" || known.wide !== wide) return false;
    if (wide && known.range[1] - known.range[0] > TOO_COARSE * (endMs - startMs)) return false;
    return known.range[0] <= startMs && known.range[1] >= Math.floor(endMs);
  }

  // More on either side than is in view, so that panning needs no fetch.
  #windowsAround([startMs, endMs]) {
    const sizeMs = Math.min(KEPT_MS, Math.max(this.blockMs, Math.ceil(endMs - startMs) + 1));
    const beginMs = Math.max(0, Math.floor((startMs + endMs - sizeMs) / 2));
    return [beginMs, beginMs + sizeMs];
  }

  #stepsAround([startMs, endMs]) {
    const moreMs = ((STEPS_AROUND - 1) / 2) * (endMs - startMs);
    return [Math.max(0, Math.floor(startMs - moreMs)), Math.ceil(endMs + moreMs)];
  }
}

function ringOfSteps({ window_ms: windowMs }, [startMs, endMs]) {
  // One more at each end: the range need not begin or end with a step.
  return new WindowRing({ windowMs, capacity: Math.ceil((endMs - startMs) / windowMs) + 2 });
}
