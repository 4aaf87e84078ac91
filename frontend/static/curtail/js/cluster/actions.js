/** What was done to the jobs of a cluster, or would have been: each with its time, job and reason. */

import { jobUrl } from "../core/api.js";
import { element } from "../core/dom.js";
import { clockTime, dayOnly, dayTime, zoneName } from "../core/times.js";

const KINDS = {
  reconfiguration: "Reconfiguration",
  reduction: "Reduction",
  reversion: "Reversion",
  black_list: "Black-listed",
  reset: "Begun anew",
  converged: "Converged",
};

export function kindName(kind) {
  return KINDS[kind] ?? kind.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());
}

/** Every action with a key of its own: of two at one time, each has one. */
export function keyed(actions) {
  return actions.map((action) => ({ ...action, key: `${action.at_ms} ${action.kind} ${action.job ?? ""}` }));
}

/** "Reconfiguration of orders.enrich, 14:03:22: …" */
export function inWords({ at_ms: atMs, kind, job, reason, advised }, zone) {
  const what = `${advised ? "Advised: " : ""}${kindName(kind)}${job ? ` of ${job}` : ""}`;
  return `${what}, ${clockTime(atMs, zone)} ${zoneName(atMs, zone)}: ${reason}`;
}

// The day only where it is another one.
function when(atMs, nowMs, zone) {
  return dayOnly(atMs, zone) === dayOnly(nowMs, zone) ? clockTime(atMs, zone) : dayTime(atMs, zone);
}

export function actionRow(action, { zone, nowMs, chosen, onChoose }) {
  const { key, at_ms: atMs, kind, job, reason, advised } = action;
  const row = element(
    "li",
    { class: "action", "data-advised": advised, "data-chosen": key === chosen, "data-of": key },
    element("p", { class: "action-head" }, element("button", { type: "button", class: "action-kind", title: "Mark it in the chart" }, kindName(kind)), element("span", { class: "muted" }, when(atMs, nowMs, zone))),
    element("p", { class: "action-reason" }, job ? element("a", { href: jobUrl(job) }, job) : "", job ? ": " : "", reason),
  );
  row.querySelector("button").addEventListener("click", () => onChoose(key));
  return row;
}
