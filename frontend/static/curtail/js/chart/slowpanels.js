/** The panels of what changes slowly: memory, lag and state. Each is there where its data is. */

import { bytesAxis, countAxis, shareAxis, stemAxis } from "./axes.js";
import { bytes, count, duration, percent, text } from "../core/format.js";
import { Places } from "./places.js";
import { BASES, ROCKSDB_PARTS } from "./seconds.js";

// A value a second; two may be lost before a line breaks.
const GAP_MS = 3500;
const MOST_EXECUTORS = 4;
const MOST_PARTITIONS = 8;
const DASHES = ["solid", "dot", "dash", "dashdot"];

const read = {
  bytes: (value) => text(bytes(value)),
  count: (value) => text(count(value)),
  duration: (value) => text(duration(value)),
  percent: (value) => text(percent(value)),
};

function slow(group, panel) {
  return { ...panel, gapMs: GAP_MS, present: ({ ring }) => ring.names(group).length > 0 };
}

function line(ring, group, name, key, more) {
  return { key: `${group} ${key ?? name}`, name, at: (number) => ring.of(group, key ?? name, number), slow: true, ...more };
}

function perExecutor(group, reads) {
  const places = new Places();
  return ({ ring }) => {
    const names = ring.names(group);
    places.keepOnly(names);
    return names.map((name) => line(ring, group, name, name, { read: reads, look: { ...places.of(name), width: 1.25, opacity: 0.85 } }));
  };
}

export const MEMORY = [
  slow("container", {
    id: "container-memory",
    title: "Container memory, % of its limit",
    px: 72,
    series: perExecutor("container", read.percent),
    axis: shareAxis,
    absent: "no container with a limit",
  }),
  slow("resident", {
    id: "resident-memory",
    steps: true,
    title: "Memory per executor, resident",
    px: 72,
    series: perExecutor("resident", read.bytes),
    axis: bytesAxis,
    absent: "no executor reports yet",
  }),
];

export const LAG = [
  slow("lag", {
    id: "lag",
    title: "Lag, age",
    px: 56,
    series: ({ ring }) =>
      ring.names("lag").map((basis) =>
        line(ring, "lag", BASES[basis], basis, {
          read: read.duration,
          look: { colour: "ink", width: 1.25, dash: basis === "rate" ? "dash" : basis === "event_time" ? "dot" : "solid" },
        }),
      ),
    axis: stemAxis,
    absent: "not known of this source",
  }),
  slow("lag_rows", {
    id: "lag-rows",
    title: "Lag per source partition, rows",
    px: 72,
    series: lagRows(new Places()),
    axis: countAxis,
    absent: "none is behind",
  }),
];

export const STATE = [
  slow("state_rows", {
    id: "state-rows",
    steps: true,
    title: "State, rows",
    px: 56,
    series: perOperator("state_rows", read.count),
    axis: countAxis,
    absent: "no stateful operator",
  }),
  slow("state_bytes", {
    id: "state-bytes",
    steps: true,
    title: "State, size",
    px: 56,
    series: perOperator("state_bytes", read.bytes),
    axis: bytesAxis,
    absent: "no stateful operator",
  }),
  slow("rocksdb", {
    id: "rocksdb-memory",
    title: "RocksDB memory",
    px: 72,
    series: rocksdbMemory(new Places()),
    axis: bytesAxis,
    absent: "no state store of RocksDB's is loaded",
  }),
];

// Which partitions are the furthest behind changes; those that are it now, or were it last, are shown.
function lagRows(places) {
  return ({ ring }) => {
    const names = ring
      .names("lag_rows")
      .map((name) => [name, ring.last("lag_rows", name)])
      .sort(([a, x], [b, y]) => y.number - x.number || y.value - x.value || a.localeCompare(b))
      .slice(0, MOST_PARTITIONS)
      .map(([name]) => name)
      .sort();
    places.keepOnly(names);
    return names.map((name) => line(ring, "lag_rows", name, name, { read: read.count, look: { ...places.of(name), width: 1.25, opacity: 0.85 } }));
  };
}

function perOperator(group, reads) {
  return ({ ring }) =>
    ring.names(group).map((operator, place) => {
      const called = ring.operators.get(operator);
      const name = called ? `operator ${operator}, ${called}` : `operator ${operator}`;
      return line(ring, group, name, operator, { read: reads, look: { colour: `host-${(place % 7) + 1}`, width: 1.25 } });
    });
}

// Of few executors a line per executor and part: its colour says whose, its dash which part.
// Of more, the highest of them all per part.
function rocksdbMemory(places) {
  return ({ ring }) => {
    const of = (part) => ring.names("rocksdb").filter((name) => name.endsWith(` ${part}`));
    const executors = of(ROCKSDB_PARTS[0]).map((name) => name.slice(0, -ROCKSDB_PARTS[0].length - 1));
    places.keepOnly(executors);
    if (executors.length > MOST_EXECUTORS) {
      return ROCKSDB_PARTS.map((part, i) => ({
        key: `rocksdb highest ${part}`,
        name: `${part}, highest of ${executors.length}`,
        at: (number) => highest(of(part).map((name) => ring.of("rocksdb", name, number))),
        slow: true,
        read: read.bytes,
        look: { colour: "host-1", width: 1.25, dash: DASHES[i] },
      }));
    }
    return executors.flatMap((executor) =>
      ROCKSDB_PARTS.map((part, i) =>
        line(ring, "rocksdb", `${executor} ${part}`, `${executor} ${part}`, {
          read: read.bytes,
          look: { colour: places.of(executor).colour, width: 1.25, dash: DASHES[i], opacity: 0.85 },
        }),
      ),
    );
  };
}

function highest(values) {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length ? Math.max(...known) : NaN;
}
