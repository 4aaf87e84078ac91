/**
 * The last 15 minutes of windows, one typed array per column.
 *
 * A window lives at (its number modulo the capacity), its number being start / window_ms. So a
 * window that comes twice, late or out of order finds its own place, memory never grows, and
 * NaN stands for null.
 */

import { instanceColumns, Pools } from "../job/pools.js";

export const WINDOW_MS = 50;
export const KEPT_MS = 15 * 60 * 1000;
export const PERCENTILES = ["p50", "p90", "p99", "p999"];

/** When a record is done: when its row was processed, or when its batch was committed. */
export const LATENCIES = ["processed", "committed"];

const LATENCY = ["count", ...PERCENTILES, "max"];
// A host may have dozens of instances with four columns each.
const COMPACT = new Set(["pool_queued", "pool_busy", "pool_executed", "pool_p99"]);
const GROUPS = ["cpu", "process_cpu", "flushes", "compactions", "pool_held", ...COMPACT];
// Each column, and where a WindowBatch has it. A server of an older version may lack some.
const COLUMNS = new Map([
  ...LATENCY.map((name) => [name, (batch) => batch.latency[name]]),
  ...LATENCY.map((name) => [latencyColumn("committed", name), (batch) => batch.committed?.[name]]),
  ["rows_in", (batch) => batch.rows_in],
  ["backlog_rows", (batch) => batch.backlog_rows],
  ["tasks_running", (batch) => batch.tasks?.running],
  ["tasks_waiting", (batch) => batch.tasks?.waiting],
]);

export function latencyColumn(which, name) {
  return which === "committed" ? `committed_${name}` : name;
}

export class WindowRing {
  constructor({ windowMs = WINDOW_MS, capacity = KEPT_MS / WINDOW_MS } = {}) {
    this.windowMs = windowMs;
    this.capacity = capacity;
    this.size = 0;
    this.newest = null; // number of the newest window held
    this.frozen = false;
    this.held = new Uint8Array(capacity);
    this.columns = new Map([...COLUMNS.keys()].map((name) => [name, emptyColumn(capacity)]));
    // Series that come and go: host, executor, operator or instance → {column, newest}
    this.groups = new Map(GROUPS.map((group) => [group, new Map()]));
    this.pools = new Pools();
  }

  get lastMs() {
    return this.newest === null ? null : this.newest * this.windowMs;
  }

  /** The members of a group that have a value somewhere. */
  names(group) {
    return [...this.groups.get(group).keys()];
  }

  /** Takes a WindowBatch; `skip` holds window starts for which newer values are already here. */
  put(batch, skip = null) {
    const given = {
      cpu: batch.cpu,
      process_cpu: batch.process_cpu ?? {},
      flushes: batch.state.flushes,
      compactions: batch.state.compactions,
      ...instanceColumns(batch.pools ?? []),
    };
    const columns = [...COLUMNS].map(([name, of]) => [this.columns.get(name), of(batch)]).filter(([, values]) => values);
    const taken = []; // [place in the batch, number] of each window
    for (let i = 0; i < batch.t.length; i += 1) {
      if (skip?.has(batch.t[i])) continue;
      const number = Math.floor(batch.t[i] / this.windowMs);
      const slot = this.#claim(number);
      if (slot === null) continue;
      for (const [column, values] of columns) column[slot] = values[i] ?? NaN;
      taken.push([i, number]);
    }
    for (const group of GROUPS) {
      for (const [name, values] of Object.entries(given[group])) this.#putMember(group, name, values, taken);
    }
    this.pools.put(batch, this.windowMs, this.frozen ? this.newest : Infinity);
    this.#forgetNames();
  }

  /** Window numbers [from, to) that overlap the time range and may be held. */
  span(startMs, endMs) {
    if (this.newest === null) return { from: 0, to: 0 };
    const oldest = Math.max(0, this.newest - this.capacity + 1);
    const from = Math.max(oldest, Math.floor(startMs / this.windowMs));
    const to = Math.min(this.newest + 1, Math.ceil(endMs / this.windowMs));
    return { from, to: Math.max(from, to) };
  }

  /** Whether the time is one that this ring may hold, held or not. */
  reaches(ms) {
    return this.newest !== null && ms >= (this.newest - this.capacity + 1) * this.windowMs;
  }

  /** Whether the column has a value anywhere. */
  has(name) {
    return this.columns.get(name).some((value) => !Number.isNaN(value));
  }

  value(name, number) {
    return this.columns.get(name)[number % this.capacity];
  }

  /** Whether a member of a group has a value somewhere. */
  holds(group, name) {
    return this.groups.get(group).has(name);
  }

  of(group, name, number) {
    return this.groups.get(group).get(name).column[number % this.capacity];
  }

  /** A copy that keeps its time range: it still takes what was missing, but never moves on. */
  freeze() {
    const copy = new WindowRing({ windowMs: this.windowMs, capacity: this.capacity });
    copy.size = this.size;
    copy.newest = this.newest;
    copy.held = this.held.slice();
    for (const [name, column] of this.columns) copy.columns.set(name, column.slice());
    for (const [group, members] of this.groups) {
      for (const [name, { column, newest }] of members) {
        copy.groups.get(group).set(name, { column: column.slice(), newest });
      }
    }
    copy.pools = this.pools.copy();
    copy.frozen = true;
    return copy;
  }

  #claim(number) {
    if (this.newest === null) {
      if (this.frozen) return null;
      this.newest = number;
    }
    if (number > this.newest) {
      if (this.frozen) return null;
      this.#advance(number);
    }
    if (number <= this.newest - this.capacity) return null;
    const slot = number % this.capacity;
    if (!this.held[slot]) {
      this.held[slot] = 1;
      this.size += 1;
    }
    return slot;
  }

  #advance(number) {
    const steps = Math.min(number - this.newest, this.capacity);
    for (let step = 0; step < steps; step += 1) {
      const slot = (number - step) % this.capacity;
      if (!this.held[slot]) continue;
      this.held[slot] = 0;
      this.size -= 1;
      for (const column of this.columns.values()) column[slot] = NaN;
      for (const members of this.groups.values()) {
        for (const { column } of members.values()) column[slot] = NaN;
      }
    }
    this.newest = number;
  }

  #putMember(group, name, values, taken) {
    const members = this.groups.get(group);
    let entry = members.get(name);
    for (const [i, number] of taken) {
      // A later window of the same batch may have its place.
      if (number <= this.newest - this.capacity) continue;
      const value = values[i] ?? null;
      if (!entry) {
        if (value === null) continue;
        entry = { column: emptyColumn(this.capacity, COMPACT.has(group) ? Float32Array : Float64Array), newest: number };
        members.set(name, entry);
      }
      entry.column[number % this.capacity] = value ?? NaN;
      if (value !== null) entry.newest = Math.max(entry.newest, number);
    }
  }

  // On Kubernetes every new executor is a new host name: without this, a week of them stays.
  #forgetNames() {
    if (this.frozen) return;
    for (const members of this.groups.values()) {
      for (const [name, { newest }] of members) {
        if (newest <= this.newest - this.capacity) members.delete(name);
      }
    }
    this.pools.forgetUntil(this.newest - this.capacity);
  }
}

function emptyColumn(capacity, Numbers = Float64Array) {
  return new Numbers(capacity).fill(NaN);
}
