/**
 * The panels of the job page, from top to bottom: what each shows and how high it is.
 *
 * `id` is how other pages name those that they show. A panel has `series(picture)`:
 * [{key, name, at(number), read(value), look}], one value per window, by the name that the API's
 * windows have for it (ring.js takes them all);
 * or `stems(picture)`: [{key, name, look, items}], intervals as upright lines. One with `lanes`
 * shows single intervals instead once the view is narrow enough (lanes.js); one with `present` is
 * only there where that is true. In a far view, of steps of many windows each, there are only those
 * with `steps`. What has a value once a second is in slowpanels.js,
 * what only far views have in steppanels.js.
 */

import { coresAxis, countAxis, latencyAxis, shareAxis, stemAxis, weightAxis } from "./axes.js";
import { count, duration, percent, text } from "../core/format.js";
import { byExecutor, byPhase, byStore } from "./lanes.js";
import { PHASES } from "./phases.js";
import { Places } from "./places.js";
import { LAG, MEMORY, STATE } from "./slowpanels.js";
import { STEPS, worstWindow } from "./steppanels.js";
import { outgoingLanes, poolLanes, poolSeries, present, presentOf } from "../job/poolpanels.js";
import { replays, sharedLanes, sharedSeries, timeoutSeries } from "../job/poolwide.js";
import { latencyColumn, PERCENTILES } from "./ring.js";

export const PERCENTILE_NAMES = { p50: "p50", p90: "p90", p99: "p99", p999: "p99.9" };

const ROCKSDB = "only the RocksDB state store tells: with it, how many stores of an operator";

export const PANELS = [
  {
    id: "latency",
    title: "Latency",
    px: 200,
    dotted: true,
    steps: true,
    series: (picture) => [
      ...PERCENTILES.map((name) => ({
        key: name,
        name: PERCENTILE_NAMES[name],
        at: (number) => picture.ring.value(latencyColumn(picture.which, name), number),
        read: (value) => text(duration(value)),
        look: { colour: name, width: 1.5 },
      })),
      ...worstWindow(picture),
      ...promised(picture),
    ],
    axis: ({ low, high }, scale) => latencyAxis(low, high, scale),
    absent: "no records in sight",
  },
  {
    id: "host-cpu",
    steps: true,
    title: "Host CPU",
    px: 72,
    series: perName("cpu", "host", new Places(), (value) => text(percent(value))),
    axis: shareAxis,
    absent: "no executor reports yet",
  },
  {
    id: "executor-cpu",
    steps: true,
    title: "CPU per executor, % of one core",
    px: 72,
    series: perName("process_cpu", "executor", new Places(), (value) => text(percent(value))),
    axis: coresAxis,
    absent: "no executor reports yet",
  },
  ...MEMORY,
  {
    id: "backlog",
    steps: true,
    title: "Backlog, rows",
    px: 56,
    series: ({ ring }) => [
      {
        key: "backlog",
        name: "not read yet",
        at: (number) => ring.value("backlog_rows", number),
        read: (value) => text(count(value)),
        look: { colour: "ink", width: 1.25 },
      },
    ],
    axis: countAxis,
    absent: "the source does not say",
  },
  ...LAG,
  {
    id: "tasks",
    steps: true,
    title: "Tasks",
    px: 56,
    series: ({ ring }) =>
      [["running", "host-3", "solid"], ["waiting", "host-6", "dash"]].map(([name, colour, dash]) => ({
        key: `tasks ${name}`,
        name,
        at: (number) => ring.of("tasks", name, number),
        read: (value) => text(count(value)),
        look: { colour, width: 1.25, dash },
      })),
    axis: countAxis,
    absent: "no task seen",
  },
  ...STEPS,
  {
    id: "pool-queues",
    title: "Pool queues, chunks",
    px: 56,
    present,
    series: together(sharedSeries, poolSeries("queued", (value) => text(count(value)))),
    axis: countAxis,
    lanes: together(sharedLanes, poolLanes("queued", "host-6")),
    lanesTitle: "Chunks waiting at each instance: the stronger, the more",
    lanesNamed: true,
    absent: "no pool in sight",
  },
  {
    id: "pool-busy",
    title: "Pool busy, % of the window",
    px: 56,
    present,
    series: poolSeries("busy", (value) => text(percent(value))),
    axis: shareAxis,
    lanes: poolLanes("busy", "host-3", 100),
    lanesTitle: "How busy each instance is",
    lanesNamed: true,
    absent: "no pool in sight",
  },
  {
    id: "pool-weights",
    title: "Pool weights, % of chunks",
    px: 72,
    present: presentOf("weight"),
    series: poolSeries("weight", (value) => text(percent(value))),
    axis: weightAxis,
    absent: "none in sight",
  },
  {
    id: "pool-outgoing",
    title: "Pool outgoing, chunks not sent on yet",
    px: 56,
    present: presentOf("parked"),
    series: poolSeries("parked", (value) => text(count(value))),
    axis: countAxis,
    lanes: outgoingLanes(),
    lanesTitle: "Outgoing at each instance: thick while it may send, thin while it waits its turn",
    lanesNamed: true,
    absent: "none in sight",
  },
  {
    id: "pool-timeout",
    title: "Replay timeout",
    px: 56,
    present: replays,
    series: timeoutSeries,
    axis: stemAxis,
    absent: "no timeout in sight",
  },
  {
    id: "flushes",
    ...concurrency("Flushes at once", "flushes", "flush"),
    lanes: byStore("flush"),
    lanesTitle: "Flushes of each state store, operator/partition",
    absent: `${ROCKSDB} write to disk at once`,
  },
  {
    id: "compactions",
    ...concurrency("Compactions at once", "compactions", "compaction"),
    lanes: byStore("compaction"),
    lanesTitle: "Compactions of each state store, operator/partition",
    absent: `${ROCKSDB} merge files at once`,
  },
  ...STATE,
  {
    id: "gc",
    title: "GC pauses",
    px: 48,
    stems: ({ intervals, range }) => [
      {
        key: "gc",
        name: "collection",
        look: { colour: "gc", width: 1.5 },
        items: intervals.within("gc", ...range).map(({ start_ms, end_ms }) => ({ atMs: start_ms, from: 0, to: end_ms - start_ms })),
      },
    ],
    axis: stemAxis,
    lanes: byExecutor("gc"),
    lanesTitle: "GC pauses of each executor",
    absent: "none in sight",
  },
  {
    id: "batches",
    title: "Micro-batches by phase",
    px: 80,
    stems: ({ intervals, range }) => stackedPhases(intervals.within("phase", ...range)),
    axis: stemAxis,
    lanes: byPhase,
    lanesTitle: "Micro-batches by phase",
    lanesNamed: true,
    absent: "none ended in sight",
  },
];

/** Those of the panels that this picture has: a job without a pool has none of a pool. */
export function presentIn(picture, panels = PANELS) {
  return panels.filter(({ present, steps }) => (!picture.ring.stepped || steps) && (present?.(picture) ?? true));
}

// The latency that the SLO allows, where records are: a line alone would look like data.
function promised({ ring, which, objective }) {
  const { latency } = objective ?? {};
  if (latency?.of !== which) return [];
  const column = latencyColumn(which, "p99");
  return [
    {
      key: "slo",
      name: "SLO",
      at: (number) => (Number.isNaN(ring.value(column, number)) ? NaN : latency.threshold_ms),
      read: (value) => text(duration(value)),
      look: { colour: "ink", width: 1.5, dash: "dash", plain: true },
    },
  ];
}

function together(...parts) {
  return (picture) => parts.flatMap((part) => part(picture));
}

function perName(group, kind, places, read) {
  return ({ ring }) => {
    const names = ring.names(group);
    places.keepOnly(names);
    return names.map((name) => ({
      key: `${kind} ${name}`,
      name,
      at: (number) => ring.of(group, name, number),
      read,
      look: { ...places.of(name), width: 1.25, opacity: 0.85 },
    }));
  };
}

// Flush and compaction keep their two colours on every page; operators differ by dash.
const DASHES = ["solid", "dash", "dot", "dashdot"];

function concurrency(title, group, colour) {
  return {
    title,
    px: 56,
    series: ({ ring }) =>
      ring.names(group).map((operator, place) => ({
        key: `${group} ${operator}`,
        name: `operator ${operator}`,
        at: (number) => ring.of(group, operator, number),
        read: (value) => text(count(value)),
        look: { colour, width: 1.25, dash: DASHES[place % DASHES.length] },
      })),
    axis: countAxis,
  };
}

// A batch is one upright line where it began, its phases one on the other in Spark's order.
function stackedPhases(phases) {
  const beganMs = new Map();
  for (const { reason, start_ms } of phases) {
    beganMs.set(reason, Math.min(start_ms, beganMs.get(reason) ?? Infinity));
  }
  return PHASES.map(({ name, colour }) => ({
    key: `phase ${name}`,
    name,
    look: { colour, width: 2 },
    items: phases
      .filter((phase) => phase.name === name)
      .map(({ reason, start_ms, end_ms }) => {
        const atMs = beganMs.get(reason);
        return { atMs, from: start_ms - atMs, to: end_ms - atMs };
      }),
  }));
}
