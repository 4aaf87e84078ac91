/** The panels that only far views have, of steps of many windows each. */

import { bytesAxis, countAxis, stemAxis } from "./axes.js";
import { bytes, count, duration, text } from "../core/format.js";

export const STEPS = [
  ofStep("longest_batch_ms", "Longest micro-batch", stemAxis, (value) => text(duration(value))),
  ofStep("state_bytes", "State of all operators, bytes", bytesAxis, (value) => text(bytes(value))),
  ofStep("state_rows", "State of all operators, rows", countAxis, (value) => text(count(value))),
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
