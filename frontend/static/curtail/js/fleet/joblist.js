/**
 * The list of jobs: pushed over a WebSocket, polled over REST while that is down.
 *
 * A push has all jobs, or (`full` is false) only the changed fields and the jobs that are gone.
 */

import { clock as realClock } from "../core/clock.js";
import { SteadySocket } from "../core/socket.js";

const POLL_MS = 5000;

export class JobList {
  #timer = null;
  #down = true;
  #known = new Map();

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
    this.#tell(message);
  }

  #lost() {
    if (this.#down) return; // the polling goes on
    this.#down = true;
    this.#poll();
  }

  async #poll() {
    try {
      const answer = await this.fetchJobs();
      // A push that came meanwhile is newer, and has all jobs.
      if (this.#down) this.#tell(answer);
    } catch (error) {
      // With the socket up the list is right all the same.
      if (this.#down) this.onTrouble(error);
    }
    if (!this.#down) return;
    this.clock.cancel(this.#timer);
    this.#timer = this.clock.after(POLL_MS, () => this.#poll());
  }

  #tell({ items, full = true, gone = [], now_ms = null, store = "ok" }) {
    if (full) this.#known = new Map(items.map((job) => [job.id, job]));
    else for (const job of items) this.#known.set(job.id, { ...this.#known.get(job.id), ...job });
    for (const id of gone) this.#known.delete(id);
    this.onJobs([...this.#known.values()], now_ms, store);
  }
}
