/**
 * The last 15 minutes of windows, one typed array per column.
 *
 * A window lives at (its number modulo the capacity), its number being start / window_ms. So a
 * window that comes twice, late or out of order finds its own place, memory never grows, and
 * NaN stands for null.
 */

import { instanceColumns, Pools } from "../job/pools.js";
import { groupsOf, SLOW } from "./seconds.js";

export const WINDOW_MS = 50;
export const KEPT_MS = 15 * 60 * 1000;
export const PERCENTILES = ["p50", "p90", "p99", "p999"];

/** When a record is done: when its row was processed, or when its batch was committed. */
export const LATENCIES = ["processed", "committed"];

const LATENCY = ["count", ...PERCENTILES, "max"];
// A host may have dozens of instances with as many columns each.
const COMPACT = new Set(["queued", "busy", "executed", "p99", "parked", "signal", "weight"].map((column) => `pool_${column}`));
// What a WindowBatch holds that is no column, or whose columns are named otherwise here.
const OTHERWISE = new Set(["t", "latency", "committed", "state", "pools", "batches", "activities", "seconds", "missing"]);

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
    this.columns = new Map();
    // Series that come and go: group → host, executor, operator or instance → {column, newest}
    this.groups = new Map();
    this.pools = new Pools();
    // What Spark calls each stateful operator.
    this.operators = new Map();
  }

  /** Whether it holds steps of many windows each, as far views do. */
  get stepped() {
    return this.windowMs > WINDOW_MS;
  }

  get lastMs() {
    return this.newest === null ? null : this.newest * this.windowMs;
  }

  /** The members of a group that have a value somewhere. */
  names(group) {
    return [...(this.groups.get(group)?.keys() ?? [])];
  }

  /** Takes a WindowBatch; `skip` holds window starts for which newer values are already here. */
  put(batch, skip = null) {
    const { single, groups } = columnsOf(batch);
    const columns = Object.entries(single).map(([name, values]) => [this.#column(name), values]);
    const taken = []; // [place in the batch, number] of each window
    for (let i = 0; i < batch.t.length; i += 1) {
      if (skip?.has(batch.t[i])) continue;
      const number = Math.floor(batch.t[i] / this.windowMs);
      const slot = this.#claim(number);
      if (slot === null) continue;
      for (const [column, values] of columns) column[slot] = values[i] ?? NaN;
      taken.push([i, number]);
    }
    for (const [group, members] of Object.entries(groups)) {
      for (const [name, values] of Object.entries(members)) this.#putMember(group, name, values, taken);
    }
    if (batch.seconds) this.#putSeconds(batch.seconds, skip);
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

  /** How many windows of the time range are held. */
  heldIn(startMs, endMs) {
    const { from, to } = this.span(startMs, endMs);
    let held = 0;
    for (let number = from; number < to; number += 1) held += this.held[number % this.capacity];
    return held;
  }

  /** Whether the time is one that this ring may hold, held or not. */
  reaches(ms) {
    return this.newest !== null && ms >= (this.newest - this.capacity + 1) * this.windowMs;
  }

  /** NaN where there is none, or no such column. */
  value(name, number) {
    return this.columns.get(name)?.[number % this.capacity] ?? NaN;
  }

  /** Whether a member of a group has a value somewhere. */
  holds(group, name) {
    return this.groups.get(group)?.has(name) ?? false;
  }

  of(group, name, number) {
    return this.groups.get(group)?.get(name)?.column[number % this.capacity] ?? NaN;
  }

  /** The newest value of a member and the number of its window. */
  last(group, name) {
    const { column, newest } = this.groups.get(group).get(name);
    return { number: newest, value: column[newest % this.capacity] };
  }

  /** A copy that keeps its time range: it still takes what was missing, but never moves on. */
  freeze() {
    const copy = new WindowRing({ windowMs: this.windowMs, capacity: this.capacity });
    copy.size = this.size;
    copy.newest = this.newest;
    copy.held = this.held.slice();
    for (const [name, column] of this.columns) copy.columns.set(name, column.slice());
    for (const [group, members] of this.groups) {
      const copied = [...members].map(([name, { column, newest }]) => [name, { column: column.slice(), newest }]);
      copy.groups.set(group, new Map(copied));
    }
    copy.pools = this.pools.copy();
    copy.operators = new Map(this.operators);
    copy.frozen = true;
    return copy;
  }

  #column(name) {
    if (!this.columns.has(name)) this.columns.set(name, emptyColumn(this.capacity));
    return this.columns.get(name);
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

  // These windows came with the same batch, but for those that this ring does not take.
  #putSeconds(seconds, skip) {
    const taken = [];
    seconds.t.forEach((atMs, i) => {
      const number = Math.floor(atMs / this.windowMs);
      const fits = number <= this.newest && number > this.newest - this.capacity;
      if (fits && !skip?.has(atMs)) taken.push([i, number]);
    });
    for (const [group, members] of Object.entries(groupsOf(seconds))) {
      for (const [name, values] of Object.entries(members)) this.#putMember(group, name, values, taken);
    }
    for (const [operator, name] of Object.entries(seconds.operators)) this.operators.set(operator, name);
  }

  #putMember(group, name, values, taken) {
    if (!this.groups.has(group)) this.groups.set(group, new Map());
    const members = this.groups.get(group);
    let entry = members.get(name);
    for (const [i, number] of taken) {
      // A later window of the same batch may have taken its slot.
      if (number <= this.newest - this.capacity) continue;
      const value = values[i] ?? null;
      if (!entry) {
        if (value === null) continue;
        entry = { column: emptyColumn(this.capacity, COMPACT.has(group) || SLOW.has(group) ? Float32Array : Float64Array), newest: number };
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

/**
 * What a WindowBatch has of each window: {single: {name: values}, groups: {group: {name: values}}}.
 * A list with a value per window is a column and an object of lists a group, so a new one of either
 * needs no change here.
 */
function columnsOf(batch) {
  const single = {};
  const groups = { ...batch.state, ...instanceColumns(batch.pools ?? []) };
  for (const name of LATENCY) {
    // A server of an older version may lack some.
    single[latencyColumn("processed", name)] = batch.latency[name] ?? [];
    single[latencyColumn("committed", name)] = batch.committed?.[name] ?? [];
  }
  for (const [name, value] of Object.entries(batch)) {
    if (OTHERWISE.has(name)) continue;
    if (Array.isArray(value) && value.length === batch.t.length) single[name] = value;
    else if (isGroup(value)) groups[name] = value;
  }
  return { single, groups };
}

function isGroup(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && Object.values(value).every(Array.isArray);
}

function emptyColumn(capacity, Numbers = Float64Array) {
  return new Numbers(capacity).fill(NaN);
}
