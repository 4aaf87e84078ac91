/** The dialog for what operators write down about a job: its latency objective and its tags. */

import { apiUrl, sendJson } from "../core/api.js";
import { ask } from "../core/dialog.js";
import { part, setText } from "../core/dom.js";
import { duration, text } from "../core/format.js";

/** Resolves to what changed, {slo, tags}, or null. */
export function editJob(job) {
  const dialog = part("edit-dialog");
  const { elements } = dialog.querySelector("form");
  setText(part("edit-title"), `${job.application} / ${job.query}`);
  elements.p99_ms.value = job.slo?.objective.latency?.threshold_ms ?? "";
  elements.tags.value = (job.tags ?? []).join(", ");
  elements.reason.value = "";
  let version = job.slo?.version ?? 0;
  let slo = job.slo ?? null;
  let tags = job.tags ?? [];
  const url = (name) => apiUrl(`jobs/${encodeURIComponent(job.id)}/${name}`);
  return ask(dialog, async () => {
    const reason = elements.reason.value;
    const p99_ms = elements.p99_ms.value === "" ? null : Number(elements.p99_ms.value);
    const wanted = tagsOf(elements.tags.value);
    if (p99_ms !== (slo?.objective.latency?.threshold_ms ?? null)) {
      try {
        slo = await sendJson("PUT", url("slo"), { objective: withLatency(slo?.objective, p99_ms), reason, version });
      } catch (error) {
        const { current } = error.problem ?? {};
        if (error.status !== 409) throw error;
        version = current?.version ?? version;
        slo = current?.objective ? current : null;
        const is = slo?.objective.latency ? text(duration(slo.objective.latency.threshold_ms)) : slo ? "another" : "none";
        throw new Error(`Not changed: somebody set the SLO to ${is} meanwhile. Press the button again if you still want yours`);
      }
    }
    if (wanted.join("\n") !== tags.join("\n")) ({ tags } = await sendJson("PUT", url("tags"), { tags: wanted, reason }));
    return { slo: slo?.objective ? slo : null, tags };
  });
}

/** The objective with this latency at most; what else it has stays. */
function withLatency(objective, threshold_ms) {
  if (threshold_ms === null) return objective?.juice ? { ...objective, latency: null } : null;
  const latency = { of: "processed", statistic: "p99", ...objective?.latency, threshold_ms };
  return { ...objective, latency };
}

/** "eu, payments, eu" → ["eu", "payments"] */
export function tagsOf(given) {
  return [...new Set(given.split(",").map((tag) => tag.trim()).filter(Boolean))];
}
