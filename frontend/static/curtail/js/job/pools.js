/** What the application's operator pools are made of, and where a WindowBatch has their columns. */

/** Each has one value per window and instance. */
const COLUMNS = ["queued", "busy", "executed", "p99"];

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
      const { name, host, policy, operators, replaced, handed_out_again } = pool;
      const instances = pool.instances.map(({ name: own, operator, state }) => ({ key: `${key}\n${own}`, name: own, operator, state }));
      this.#known.set(key, { key, newest: number, name, host, policy, operators, replaced, handed_out_again, instances });
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

/** The groups of a ring that pools fill: columns by the key of the pool or the instance. */
export function instanceColumns(pools) {
  const groups = { pool_held: {} };
  for (const column of COLUMNS) groups[`pool_${column}`] = {};
  for (const pool of pools) {
    groups.pool_held[poolKey(pool)] = pool.held_chunks;
    for (const instance of pool.instances) {
      for (const column of COLUMNS) groups[`pool_${column}`][`${poolKey(pool)}\n${instance.name}`] = instance[column];
    }
  }
  return groups;
}

function poolKey({ name, host }) {
  return `${name}\n${host}`;
}
