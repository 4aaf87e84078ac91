/** Which part of time the chart shows: it follows the newest windows, or holds still. */

export const SPANS_MS = [60_000, 300_000, 900_000];

export class View {
  constructor(spanMs) {
    this.spanMs = spanMs;
    this.held = null; // [startMs, endMs] while paused
  }

  get paused() {
    return this.held !== null;
  }

  follow() {
    this.held = null;
  }

  pause(range) {
    this.held = range;
  }

  /**
   * Following, the right edge is the server's clock, not the newest window: when frames stop, a
   * growing gap shows it. It grows to half the width, so the last windows stay in sight.
   */
  range(nowMs, lastMs) {
    if (this.held) return this.held;
    const end = lastMs === null ? nowMs : Math.min(nowMs, lastMs + this.spanMs / 2);
    return [end - this.spanMs, end];
  }
}
