/** The jobs of a cluster as rows: their SLO, how they stand to it, and who is black-listed. */

import { jobUrl } from "../core/api.js";
import { element } from "../core/dom.js";
import { age, NOTHING } from "../core/format.js";
import { hourMinute, zoneName } from "../core/times.js";
import { objectiveWords } from "../slo/objective.js";
import { burnWords, juiceNow, latencyNow, metWord, utilityWords } from "../slo/standing.js";

export function jobRow(job, { zone, nowMs, mode }) {
  const { objective } = job;
  return element(
    "tr",
    { "data-job-row": job.id },
    element("th", { scope: "row" }, element("a", { href: jobUrl(job.id) }, job.id)),
    cell("SLO", "slo-cell", objective ? objectiveWords(objective) : element("span", { class: "muted" }, "none: left alone")),
    ...(objective ? standing(job) : [cell("", ""), cell("", ""), cell("", "")]),
    // Advice leaves nobody out: it only says that it has nothing for a job.
    cell("", "blacklist", mode === "act" ? blacklisted(job, zone, nowMs) : ""),
  );
}

function standing({ objective, met, latency_ms: latencyMs, juice, utility, budgets }) {
  const word = element("span", { class: "met" }, element("span", { class: "dot", "aria-hidden": "true" }), metWord(met));
  const values = [objective.latency && Number.isFinite(latencyMs) && latencyNow(latencyMs), objective.juice && Number.isFinite(juice) && `juice ${juiceNow(juice)}`].filter(Boolean).join(", ");
  const now = cell("Now", "", element("span", { class: "now", "data-met": String(met) }, word, values ? ` ${values}` : ""));
  return [
    now,
    cell("Utility", "utility-cell", utilityWords(utility, objective.priority), bar(utility / objective.priority)),
    cell("Burn 1 h · 1 d", "burn-cell", burn(budgets["1h"].burn_rate), " · ", burn(budgets["1d"].burn_rate)),
  ];
}

function burn(rate) {
  return element("span", { class: rate > 1 ? "over" : null }, burnWords(rate));
}

function blacklisted({ blacklisted: listed }, zone, nowMs) {
  if (!listed || listed.until_ms <= nowMs) return "";
  const until = `${hourMinute(listed.until_ms, zone)} ${zoneName(listed.until_ms, zone)}`;
  return `black-listed until ${until}, ${age(listed.until_ms - nowMs)} more: ${listed.why}`;
}

/** How much of what it can be, from 0 to 1. */
export function bar(part) {
  const fill = element("span", { class: "fill" });
  fill.style.width = `${100 * Math.min(1, Math.max(0, part || 0))}%`;
  return element("span", { class: "share", "aria-hidden": "true" }, fill);
}

// The label is what a narrow screen shows in place of the column's head.
function cell(label, kind, ...children) {
  const shown = children.filter((child) => child !== "");
  return element("td", { class: kind || null, "data-label": label || null }, ...shown);
}
