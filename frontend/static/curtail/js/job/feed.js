/**
 * The windows of one job: live over a WebSocket, and what is missing over REST.
 *
 * The windows in view are fetched first, before there is a connection; older ones, as far as the
 * page keeps them, when nothing else is missing. Live batches are numbered. After `hello`, and
 * whenever a number was skipped, everything from the last window held until now is fetched once.
 * Live batches are shown at once even while a fetch is under way; what they brought is newer than
 * the answer and is not overwritten by it.
 */

import { backoffMs } from "../core/backoff.js";
import { clock as realClock } from "../core/clock.js";
import { KEPT_MS } from "../chart/ring.js";
import { SteadySocket } from "../core/socket.js";

export class Feed {
  #seq = null;
  #connected = false;
  #greeted = false; // whether there has been a connection
  #first; // what to fetch first, and what is older: null when they are here
  #older;
  #missingFromMs = null; // start of what has to be fetched, null when nothing is missing
  #fetching = null; // a range, while its fetch is under way
  #fresh = null; // window starts that came live while a fetch is under way
  #retry = null;
  #failures = 0;
  #aheadMs; // the server's clock minus this browser's

  constructor({
    socketUrl,
    fetchWindows,
    firstRange,
    aheadMs = 0,
    lastMs,
    onWindows,
    onCards = () => {},
    onRefused,
    Socket,
    clock = realClock,
    random,
  }) {
    this.fetchWindows = fetchWindows;
    this.#first = firstRange;
    this.#older = [firstRange[1] - KEPT_MS, firstRange[0]];
    this.firstEndMs = firstRange[1];
    this.#aheadMs = aheadMs;
    this.lastMs = lastMs;
    this.onWindows = onWindows;
    this.onCards = onCards;
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
    this.#fetch();
  }

  stop() {
    this.#connected = false;
    this.#first = this.#older = null;
    this.clock.cancel(this.#retry);
    this.socket.close();
  }

  /** connecting | live | behind | reconnecting */
  get connection() {
    if (!this.loaded || !this.#greeted) return "connecting";
    if (!this.#connected) return "reconnecting";
    const fetched = !this.#fetching || this.#fetching === this.#older;
    return this.#missingFromMs === null && fetched ? "live" : "behind";
  }

  /** What is older than this has not been fetched yet. */
  get sinceMs() {
    return this.#older ? this.#older[1] : -Infinity;
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
      this.#connected = this.#greeted = true;
      this.#failures = 0;
      this.#missing();
    } else if (message.type === "windows") {
      const skipped = message.seq !== this.#seq + 1;
      this.#seq = message.seq;
      // Before the batch is taken: it would move the last window held past the hole.
      if (skipped) this.#missing();
      if (this.#fresh) for (const t of message.t) this.#fresh.add(t);
      this.onWindows(message, null);
    } else if (message.type === "cards") {
      this.onCards(message.items);
    }
    // "behind" needs no branch: the number that it skips shows in the next batch.
  }

  #down() {
    this.#connected = false;
  }

  #missing() {
    const last = this.lastMs() ?? this.firstEndMs;
    this.#missingFromMs = Math.min(this.#missingFromMs ?? Infinity, last);
    this.#fetch();
  }

  async #fetch() {
    const range = this.#next();
    if (this.#fetching || !range) return;
    const fromMs = this.#missingFromMs;
    const newest = range !== this.#first && range !== this.#older;
    if (newest) this.#missingFromMs = null;
    this.#fetching = range;
    this.#fresh = new Set();
    try {
      const batch = await this.fetchWindows(...range);
      const fresh = this.#fresh;
      if (range === this.#first) this.#first = null;
      if (range === this.#older) this.#older = null;
      this.#fetching = this.#fresh = null;
      this.#failures = 0;
      this.loaded = true;
      this.onWindows(batch, fresh);
    } catch {
      // Still missing, from where it was: live batches have moved the last window held since.
      if (newest) this.#missingFromMs = Math.min(this.#missingFromMs ?? Infinity, fromMs);
      this.#fetching = this.#fresh = null;
      this.#failures += 1;
    }
    if (this.#failures === 0) this.#fetch();
    else {
      this.clock.cancel(this.#retry);
      this.#retry = this.clock.after(backoffMs(this.#failures - 1, this.random), () => this.#fetch());
    }
  }

  #next() {
    if (this.#first) return this.#first;
    if (!this.#connected) return null;
    if (this.#missingFromMs === null) return this.#older;
    const nowMs = this.serverNowMs();
    return [Math.max(this.#missingFromMs, nowMs - KEPT_MS), nowMs];
  }
}
