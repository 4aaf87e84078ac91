/**
 * The windows of one job: live over a WebSocket, and what is missing over REST.
 *
 * Live batches are numbered. After `hello`, and whenever a number was skipped, everything from
 * the last window held until now is fetched once. Live batches are shown at once even while a
 * fetch is under way; what they brought is newer than the answer and is not overwritten by it.
 */

import { backoffMs } from "./backoff.js";
import { clock as realClock } from "./clock.js";
import { KEPT_MS } from "./ring.js";
import { SteadySocket } from "./socket.js";

export class Feed {
  #seq = null;
  #connected = false;
  #missingFromMs = null; // start of what has to be fetched, null when nothing is missing
  #fetching = false;
  #fresh = null; // window starts that came live while a fetch is under way
  #retry = null;
  #failures = 0;
  #aheadMs = 0; // the server's clock minus this browser's

  constructor({
    socketUrl,
    fetchWindows,
    firstRange,
    lastMs,
    onWindows,
    onRefused,
    Socket,
    clock = realClock,
    random,
  }) {
    this.fetchWindows = fetchWindows;
    this.firstRange = firstRange;
    this.lastMs = lastMs;
    this.onWindows = onWindows;
    this.clock = clock;
    this.random = random;
    this.loaded = false; // whether the first fetch has been answered
    this.socket = new SteadySocket(socketUrl, {
      onMessage: (message) => this.#take(message),
      onDown: () => this.#down(),
      onRefused,
      Socket,
      clock,
      random,
    });
  }

  start() {
    this.socket.open();
  }

  stop() {
    this.#connected = false;
    this.clock.cancel(this.#retry);
    this.socket.close();
  }

  /** connecting | live | behind | reconnecting */
  get connection() {
    if (!this.#connected) return this.loaded ? "reconnecting" : "connecting";
    if (!this.loaded) return "connecting";
    return this.#missingFromMs === null && !this.#fetching ? "live" : "behind";
  }

  get downSinceMs() {
    return this.socket.downSinceMs;
  }

  serverNowMs() {
    return this.clock.now() + this.#aheadMs;
  }

  /** Fetches from the last window held until now, as after a tab was hidden. */
  refill() {
    if (this.#connected) this.#missing();
  }

  reconnect() {
    this.socket.reopen();
  }

  #take(message) {
    if (message.type === "hello") {
      this.#aheadMs = message.now_ms - this.clock.now();
      this.#seq = message.seq;
      this.#connected = true;
      this.#failures = 0;
      this.#missing();
    } else if (message.type === "windows") {
      const skipped = message.seq !== this.#seq + 1;
      this.#seq = message.seq;
      // Before the batch is taken: it would move the last window held past the hole.
      if (skipped) this.#missing();
      if (this.#fresh) for (const t of message.t) this.#fresh.add(t);
      this.onWindows(message, null);
    }
    // "behind" needs no branch: the number that it skips shows in the next batch.
  }

  #down() {
    this.#connected = false;
    this.clock.cancel(this.#retry);
  }

  #missing() {
    const last = this.lastMs() ?? -Infinity;
    this.#missingFromMs = Math.min(this.#missingFromMs ?? Infinity, last);
    this.#fetch();
  }

  async #fetch() {
    if (this.#fetching || !this.#connected || this.#missingFromMs === null) return;
    const fromMs = this.#missingFromMs;
    const [startMs, endMs] = this.#range(fromMs);
    this.#missingFromMs = null;
    this.#fetching = true;
    this.#fresh = new Set();
    try {
      const batch = await this.fetchWindows(startMs, endMs);
      this.onWindows(batch, this.#fresh);
      this.loaded = true;
      this.#failures = 0;
    } catch {
      // Still missing, from where it was: live batches have moved the last window held since.
      this.#missingFromMs = Math.min(this.#missingFromMs ?? Infinity, fromMs);
      this.#failures += 1;
    }
    this.#fresh = null;
    this.#fetching = false;
    if (this.#failures === 0) this.#fetch();
    else {
      this.clock.cancel(this.#retry);
      this.#retry = this.clock.after(backoffMs(this.#failures - 1, this.random), () => this.#fetch());
    }
  }

  #range(fromMs) {
    const nowMs = this.serverNowMs();
    if (fromMs === -Infinity) return this.firstRange(nowMs);
    return [Math.max(fromMs, nowMs - KEPT_MS), nowMs];
  }
}

/** What to fetch first: the last 15 minutes, or those of a job that ended before them. */
export function historyRange(nowMs, lastSeenMs) {
  const silent = lastSeenMs !== null && lastSeenMs < nowMs - KEPT_MS;
  const endMs = silent ? lastSeenMs + 1000 : nowMs;
  return [endMs - KEPT_MS, endMs];
}
