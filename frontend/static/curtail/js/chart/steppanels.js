/** The panels that only far views have, of steps of many windows each. */

import { bytesAxis, stemAxis } from "./axes.js";
import { bytes, duration, text } from "../core/format.js";
import { Places } from "./places.js";

export const STEPS = [
  ofStep("longest_batch_ms", "Longest micro-batch", stemAxis, (value) => text(duration(value))),
  ofStep("lag_ms", "Lag, age", stemAxis, (value) => text(duration(value))),
  perExecutor("memory", "Container memory, highest of the step"),
  perExecutor("rocksdb_cache", "RocksDB block cache, highest of the step"),
  perExecutor("rocksdb_memtables", "RocksDB memtables, highest of the step"),
];

/** The percentiles of an hour hide a bad window; this line does not. */
export function worstWindow({ ring, which }) {
  if (!ring.stepped || which !== "processed") return [];
  return [
    {
      key: "worst p99",
      name: "worst 50 ms p99",
      at: (number) => ring.value("worst_p99", number),
      read: (value) => text(duration(value)),
      look: { colour: "p99", width: 1, dash: "dot" },
    },
  ];
}

function perExecutor(group, title) {
  const places = new Places();
  return {
    id: group,
    title,
    px: 56,
    steps: true,
    present: ({ ring }) => ring.stepped && ring.names(group).length > 0,
    series: ({ ring }) => {
      const names = ring.names(group);
      places.keepOnly(names);
      return names.map((name) => ({
        key: `${group} ${name}`,
        name,
        at: (number) => ring.of(group, name, number),
        read: (value) => text(bytes(value)),
        look: { ...places.of(name), width: 1.25, opacity: 0.85 },
      }));
    },
    axis: bytesAxis,
    absent: "not in sight",
  };
}

function ofStep(column, title, axis, read) {
  return {
    id: column,
    title,
    px: 56,
    steps: true,
    present: ({ ring }) => ring.stepped && (ring.columns.get(column)?.some((value) => !Number.isNaN(value)) ?? false),
    series: ({ ring }) => [
      {
        key: column,
        name: "highest of the step",
        at: (number) => ring.value(column, number),
        read,
        look: { colour: "ink", width: 1.25 },
      },
    ],
    axis,
    absent: "not in sight",
  };
}
