/**
 * What a WindowBatch has once a second (`seconds`), as groups of lines: memory, lag, state.
 *
 * Lists have a value for each of `seconds.t`, which are some of the batch's windows.
 */

/** What the lag in time was made from: how the page calls it. */
export const BASES = {
  offsets: "oldest unread record",
  event_time: "newest event that was read",
  rate: "estimated from the rate",
};

const ROCKSDB = { rocksdb_cache: "block cache", rocksdb_pinned: "of it pinned", rocksdb_memtables: "memtables" };

/** The parts of RocksDB's memory, in the order in which they are drawn. */
export const ROCKSDB_PARTS = Object.values(ROCKSDB);

/** {group: {name: values}} */
export function groupsOf(seconds) {
  return {
    resident: seconds.resident,
    container: shareOfLimit(seconds),
    rocksdb: rocksdb(seconds),
    lag: byBasis(seconds),
    lag_rows: seconds.lag_rows,
    state_rows: seconds.state_rows,
    state_bytes: seconds.state_bytes,
  };
}

/** The groups that `groupsOf` gives: they have a value in one window of twenty. */
export const SLOW = new Set(["resident", "container", "rocksdb", "lag", "lag_rows", "state_rows", "state_bytes"]);

// Percent of the limit, without the cached files that the kernel takes back before it kills anybody.
function shareOfLimit({ memory, reclaimable, memory_limit: limits }) {
  const of = (executor) => memory[executor].map((used, i) => {
    const limit = limits[executor]?.[i] ?? null;
    if (used === null || limit === null) return null;
    return (100 * Math.max(0, used - (reclaimable[executor]?.[i] ?? 0))) / limit;
  });
  return Object.fromEntries(Object.keys(memory).map((executor) => [executor, of(executor)]));
}

function rocksdb(seconds) {
  const found = {};
  for (const [column, part] of Object.entries(ROCKSDB)) {
    for (const [executor, values] of Object.entries(seconds[column])) found[`${executor} ${part}`] = values;
  }
  return found;
}

function byBasis({ lag_ms: lagMs, lag_basis: basis }) {
  const of = (wanted) => lagMs.map((lag, i) => (basis[i] === wanted ? lag : null));
  return Object.fromEntries(Object.keys(BASES).map((wanted) => [wanted, of(wanted)]));
}
