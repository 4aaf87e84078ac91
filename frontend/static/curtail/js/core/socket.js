/** A WebSocket that comes back by itself, and says since when it has been away. */

import { backoffMs } from "./backoff.js";
import { clock as realClock } from "./clock.js";

export const NOT_LOGGED_IN = 4401;
export const UNKNOWN_JOB = 4404;

export class SteadySocket {
  #socket = null;
  #timer = null;
  #attempt = 0;
  #stopped = false;

  constructor(url, { onMessage, onDown, onRefused, Socket = WebSocket, clock = realClock, random }) {
    this.url = url;
    this.onMessage = onMessage;
    this.onDown = onDown;
    this.onRefused = onRefused;
    this.Socket = Socket;
    this.clock = clock;
    this.random = random;
    this.downSinceMs = clock.now();
  }

  open() {
    const socket = new this.Socket(this.url);
    this.#socket = socket;
    socket.onmessage = (event) => {
      if (socket !== this.#socket) return;
      // Only a message proves that the server is there: a proxy may accept and then hang up.
      this.#attempt = 0;
      this.downSinceMs = null;
      this.onMessage(JSON.parse(event.data));
    };
    socket.onclose = (event) => {
      if (socket === this.#socket) this.#lost(event.code);
    };
  }

  /** For when the connection is known to be dead before the browser notices. */
  reopen() {
    const socket = this.#socket;
    if (!socket) return; // already waiting for the next try
    this.#lost(1006);
    socket.close();
  }

  close() {
    this.#stopped = true;
    this.clock.cancel(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #lost(code) {
    this.#socket = null;
    if (this.#stopped) return;
    if (code === NOT_LOGGED_IN || code === UNKNOWN_JOB) {
      this.#stopped = true;
      this.onRefused(code);
      return;
    }
    this.downSinceMs ??= this.clock.now();
    this.onDown();
    const wait = backoffMs(this.#attempt, this.random);
    this.#attempt += 1;
    this.#timer = this.clock.after(wait, () => this.open());
  }
}
