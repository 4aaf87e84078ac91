/** The kinds of incidents: what each is called, and which panels show it. */

import { PANELS } from "../chart/panels.js";

const KINDS = {
  millibottleneck: { name: "Millibottleneck", panels: ["latency", "host-cpu", "executor-cpu", "backlog", "tasks", "gc", "batches"] },
  scheduled_shadowsync: { name: "Scheduled ShadowSync", panels: ["latency", "host-cpu", "executor-cpu", "flushes", "compactions", "batches"] },
  statistical_shadowsync: { name: "Statistical ShadowSync", panels: ["latency", "host-cpu", "executor-cpu", "flushes", "compactions", "batches"] },
  gc_shadow: { name: "GC shadow", panels: ["latency", "executor-cpu", "flushes", "gc", "batches"] },
  straggler: { name: "Straggler", panels: ["latency", "executor-cpu", "tasks", "pool-busy", "pool-weights", "gc", "batches"] },
  skewed_partition: { name: "Skewed partition", panels: ["latency", "executor-cpu", "tasks", "batches"] },
  backlog_imbalance: { name: "Backlog imbalance", panels: ["latency", "executor-cpu", "backlog", "pool-queues", "pool-outgoing", "tasks"] },
  queue_growth: { name: "Queue growth", panels: ["latency", "host-cpu", "backlog", "lag", "lag-rows", "pool-queues", "pool-busy", "tasks", "batches"] },
  periodic_slow_batch: { name: "Periodic slow batch", panels: ["latency", "tasks", "flushes", "compactions", "batches"] },
};

/** The title of a kind; one that this version does not know has its raw name. */
export function kindName(kind) {
  return KINDS[kind]?.name ?? kind.replaceAll("_", " ");
}

/** The panels that show this kind; all panels for an unknown kind. */
export function panelsOf(kind) {
  const wanted = KINDS[kind]?.panels;
  return wanted ? PANELS.filter(({ id }) => wanted.includes(id)) : PANELS;
}
