/** What happened to a cluster, or would have: each with its time, its jobs and its reason. */

import { jobUrl } from "../core/api.js";
import { element } from "../core/dom.js";
import { clockTime, dayOnly, dayTime, zoneName } from "../core/times.js";

// These three change something; everything else that happens is told more quietly.
const ACTIONS = ["reconfiguration", "reduction", "reversion"];

/** "black-listed" → "Black-listed" */
export function kindName(what) {
  return what.charAt(0).toUpperCase() + what.slice(1);
}

/** What happened, oldest first, each with a key of its own; `advised` if nothing was changed. */
export function happenings(entries, mode) {
  return entries
    .map((entry) => ({ ...entry, key: `${entry.at_ms} ${entry.what} ${entry.jobs.join(" ")}`, quiet: !ACTIONS.includes(entry.what), advised: mode === "advise" }))
    .toSorted((a, b) => a.at_ms - b.at_ms);
}

/** "Reconfiguration, 14:03:22 CET: orders.enrich misses its SLO…" */
export function inWords({ at_ms: atMs, what, says, advised }, zone) {
  return `${advised ? "Advised: " : ""}${kindName(what)}, ${clockTime(atMs, zone)} ${zoneName(atMs, zone)}: ${says}`;
}

export function actionRow(action, { zone, nowMs, chosen, onChoose }) {
  const { key, at_ms: atMs, what, jobs, says, quiet, advised } = action;
  const button = element("button", { type: "button", class: "action-kind", "aria-pressed": String(key === chosen), title: "Mark it in the chart" }, kindName(what));
  button.addEventListener("click", () => onChoose(key));
  return element(
    "li",
    { class: "action", "data-quiet": quiet, "data-advised": advised && !quiet, "data-chosen": key === chosen, "data-of": key },
    element("p", { class: "action-head" }, button, element("span", { class: "muted" }, when(atMs, nowMs, zone))),
    element("p", { class: "action-reason" }, ...linked(says, jobs)),
  );
}

/** The text with its jobs as links; those it does not name come before it. */
export function linked(says, jobs) {
  const named = jobs.filter((job) => says.includes(job)).sort((a, b) => b.length - a.length);
  const unnamed = jobs.filter((job) => !named.includes(job));
  const link = (job) => element("a", { href: jobUrl(job) }, job);
  const before = unnamed.flatMap((job, i) => [i ? ", " : "", link(job)]);
  const parts = named.length ? says.split(new RegExp(`(${named.map(RegExp.escape ?? escape).join("|")})`)) : [says];
  return [...before, unnamed.length ? ": " : "", ...parts.map((text) => (named.includes(text) ? link(text) : text))].filter((node) => node !== "");
}

function escape(text) {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

// The day only where it is another one.
function when(atMs, nowMs, zone) {
  return dayOnly(atMs, zone) === dayOnly(nowMs, zone) ? clockTime(atMs, zone) : dayTime(atMs, zone);
}
