/** What the application's operator pools are made of, and where a WindowBatch has their columns. */

/** Each has one value per window and instance. */
const COLUMNS = ["queued", "busy", "executed", "p99"];
/** Each has one value per window and pool; the name here, the name in a WindowBatch. */
const POOL_COLUMNS = { held: "held_chunks", sent: "sent", replayed: "replayed", won: "won", timeout: "timeout" };
const FACTS = ["name", "host", "policy", "operators", "replaced", "handed_out_again"];

/** The pools that a ring knows, each as the newest window with it says. */
export class Pools {
  #known = new Map();

  /** Ignores windows later than `latest`, which this ring does not hold. */
  put({ t, pools = [] }, windowMs, latest) {
    for (const pool of pools) {
      const last = pool.held_chunks.findLastIndex((held) => held !== null);
      const number = Math.floor(t[last] / windowMs);
      const key = poolKey(pool);
      if (last < 0 || number > latest || number < this.#known.get(key)?.newest) continue;
      const facts = Object.fromEntries(FACTS.map((name) => [name, pool[name]]));
      const instances = pool.instances.map(({ name, operator, state }) => ({ key: `${key}\n${name}`, name, operator, state }));
      // A server of an older version does not say how a pool replays, nor who may send.
      this.#known.set(key, { key, newest: number, replay: pool.replay ?? "off", tau_ms: pool.tau_ms ?? 0, ...facts, instances });
    }
  }

  /** The pools, sorted by name and host. */
  get all() {
    return [...this.#known.values()].sort((a, b) => a.name.localeCompare(b.name) || a.host.localeCompare(b.host));
  }

  forgetUntil(number) {
    for (const [key, { newest }] of this.#known) if (newest <= number) this.#known.delete(key);
  }

  copy() {
    const made = new Pools();
    made.#known = new Map(this.#known);
    return made;
  }
}

/**
 * The groups of a ring that pools fill: columns by the key of the pool or the instance.
 *
 * What only some techniques use is left out until one does, so that a group that is held is one
 * that has something to show.
 */
export function instanceColumns(pools) {
  const groups = { pool_again: {}, pool_shared: {}, pool_parked: {}, pool_signal: {}, pool_weight: {} };
  for (const column of [...Object.keys(POOL_COLUMNS), ...COLUMNS]) groups[`pool_${column}`] = {};
  for (const pool of pools) {
    const key = poolKey(pool);
    for (const [column, name] of Object.entries(POOL_COLUMNS)) groups[`pool_${column}`][key] = pool[name] ?? [];
    groups.pool_again[key] = positive(pool.replayed);
    if (pool.policy === "shared-queue" || some(pool.shared_queued)) groups.pool_shared[key] = pool.shared_queued ?? [];
    const sendsInTurn = pool.tau_ms > 0 || pool.instances.some(({ parked }) => some(parked));
    for (const instance of pool.instances) {
      const own = `${key}\n${instance.name}`;
      for (const column of COLUMNS) groups[`pool_${column}`][own] = instance[column];
      // No dispatcher ever gives an instance nothing: 0 stands for no weight.
      groups.pool_weight[own] = positive(instance.weight);
      if (!sendsInTurn) continue;
      groups.pool_parked[own] = instance.parked ?? [];
      groups.pool_signal[own] = instance.signal ?? [];
    }
  }
  return groups;
}

function positive(column = []) {
  return column.map((value) => (value > 0 ? value : null));
}

function some(column) {
  return column?.some((value) => value > 0) ?? false;
}

function poolKey({ name, host }) {
  return `${name}\n${host}`;
}
