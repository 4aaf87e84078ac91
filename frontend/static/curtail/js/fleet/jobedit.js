/** The dialog for a job's tags. Its SLO is set on its own page, where what it is worth is seen. */

import { apiUrl, jobUrl, sendJson } from "../core/api.js";
import { ask } from "../core/dialog.js";
import { part, setText } from "../core/dom.js";
import { objectiveWords } from "../slo/objective.js";

/** Resolves to what changed, {tags}, or null. */
export function editJob(job) {
  const dialog = part("edit-dialog");
  const { elements } = dialog.querySelector("form");
  setText(part("edit-title"), `${job.application} / ${job.query}`);
  setText(part("edit-slo"), objectiveWords(job.slo?.objective));
  part("edit-slo-link").href = `${jobUrl(job.id)}#slo`;
  setText(part("edit-slo-link"), job.slo ? "Change it on its page" : "Set one on its page");
  elements.tags.value = (job.tags ?? []).join(", ");
  elements.reason.value = "";
  return ask(dialog, async () => {
    const tags = tagsOf(elements.tags.value);
    if (tags.join("\n") === (job.tags ?? []).join("\n")) return { tags };
    return sendJson("PUT", apiUrl(`jobs/${encodeURIComponent(job.id)}/tags`), { tags, reason: elements.reason.value });
  });
}

/** "eu, payments, eu" → ["eu", "payments"] */
export function tagsOf(given) {
  return [...new Set(given.split(",").map((tag) => tag.trim()).filter(Boolean))];
}
