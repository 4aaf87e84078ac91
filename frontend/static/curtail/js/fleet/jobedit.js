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
  elements.p99_ms.value = job.slo?.p99_ms ?? "";
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
    if (p99_ms !== (slo?.p99_ms ?? null)) {
      try {
        slo = await sendJson("PUT", url("slo"), { p99_ms, reason, version });
      } catch (error) {
        const { current } = error.problem ?? {};
        if (error.status !== 409) throw error;
        version = current?.version ?? version;
        slo = current?.p99_ms ? current : null;
        const is = slo ? text(duration(slo.p99_ms)) : "none";
        throw new Error(`Not changed: somebody set the SLO to ${is} meanwhile. Press the button again if you still want yours`);
      }
    }
    if (wanted.join("\n") !== tags.join("\n")) ({ tags } = await sendJson("PUT", url("tags"), { tags: wanted, reason }));
    return { slo: slo?.p99_ms ? slo : null, tags };
  });
}

/** "eu, payments, eu" → ["eu", "payments"] */
export function tagsOf(given) {
  return [...new Set(given.split(",").map((tag) => tag.trim()).filter(Boolean))];
}
