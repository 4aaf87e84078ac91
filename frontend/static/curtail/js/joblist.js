/** The list of jobs: pushed over a WebSocket, polled over REST while that is down. */

import { clock as realClock } from "./clock.js";
import { SteadySocket } from "./socket.js";

const POLL_MS = 5000;

export class JobList {
  #timer = null;
  #down = true;

  constructor({ socketUrl, fetchJobs, onJobs, onTrouble, onRefused, Socket, clock = realClock, random }) {
    this.fetchJobs = fetchJobs;
    this.onJobs = onJobs;
    this.onTrouble = onTrouble;
    this.clock = clock;
    this.socket = new SteadySocket(socketUrl, {
      onMessage: (message) => this.#take(message),
      onDown: () => this.#lost(),
      onRefused,
      Socket,
      clock,
      random,
    });
  }

  /** REST answers first and brings the server's clock; the socket takes over from there. */
  start() {
    this.socket.open();
    this.#poll();
  }

  #take(message) {
    if (message.type !== "jobs") return;
    this.#down = false;
    this.clock.cancel(this.#timer);
    this.onJobs(message.items, message.now_ms ?? null);
  }

  #lost() {
    if (this.#down) return; // the polling goes on
    this.#down = true;
    this.#poll();
  }

  async #poll() {
    try {
      const answer = await this.fetchJobs();
      this.onJobs(answer.items, answer.now_ms);
    } catch (error) {
      // With the socket up the list is right all the same.
      if (this.#down) this.onTrouble(error);
    }
    if (!this.#down) return;
    this.clock.cancel(this.#timer);
    this.#timer = this.clock.after(POLL_MS, () => this.#poll());
  }
}
