/** Which job needs a look first, and which jobs are asked for. A server may lack the newer fields. */

const OVER = ["ended", "stopped", "failed"];

export function isOver({ state }) {
  return OVER.includes(state);
}

/** How many times the SLO is missed, at most 1 if it is met; null without one or while nothing is measured. */
export function sloRatio({ slo }) {
  return slo?.ratio ?? null;
}

/** Whether the SLO is violated now. A silent job violates none: its last numbers are old. */
export function violates(job) {
  return job.state === "running" && sloRatio(job) > 1;
}

/** Open incidents, then a violated SLO by how much, then silence, then the slowest; what is over last. */
export function byWorst(a, b) {
  return (
    isOver(a) - isOver(b) ||
    (b.open_incidents ?? 0) - (a.open_incidents ?? 0) ||
    (violates(b) ? sloRatio(b) : 0) - (violates(a) ? sloRatio(a) : 0) ||
    (b.state === "stale") - (a.state === "stale") ||
    (b.state === "failed") - (a.state === "failed") ||
    (b.p99_ms ?? -1) - (a.p99_ms ?? -1) ||
    a.application.localeCompare(b.application) ||
    a.query.localeCompare(b.query)
  );
}

/** state: "", a state of a job, "incident" or "slo" */
export function matches(job, { words, state, tag }) {
  if (state === "incident" && !(job.open_incidents > 0)) return false;
  if (state === "slo" && !violates(job)) return false;
  if (state === "ended" && job.state !== "ended" && job.state !== "stopped") return false;
  if (["running", "stale", "failed"].includes(state) && job.state !== state) return false;
  if (tag && !(job.tags ?? []).includes(tag)) return false;
  if (words.length === 0) return true;
  const { run } = job;
  const text = [job.application, job.query, job.id, job.state, ...(job.tags ?? []), run?.driver_host, run?.spark_version]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}
