/** The SLO as fields of a form, and back; what is wrong with it stands at its field. */

import { element } from "../core/dom.js";
import { KINDS, pointsFault } from "./utility.js";

const TARGETS = ["latency", "juice"];
const THRESHOLDS = { latency: "threshold_ms", juice: "threshold" };
const LIMITS = { latency: "Above 0, at most 3600000 ms (an hour)", juice: "Above 0, at most 1" };
const LOWEST_PRIORITY = 0.1;
const HIGHEST_PRIORITY = 1000;

/** Without an SLO the form begins with what most ask for. */
export const FIRST = {
  latency: { of: "committed", statistic: "p99", threshold_ms: null, utility: { shape: "knee", points: [] } },
  juice: { threshold: null, utility: { shape: "knee", points: [] } },
  priority: 35,
};

export function fill(form, points, objective) {
  const { elements } = form;
  for (const kind of TARGETS) {
    const target = objective ? objective[kind] : kind === "latency" ? FIRST.latency : null;
    const shown = target ?? FIRST[kind];
    elements[kind].checked = target !== null && target !== undefined;
    elements[`${kind}.${THRESHOLDS[kind]}`].value = shown[THRESHOLDS[kind]] ?? "";
    elements[`${kind}.utility.shape`].value = shown.utility.shape;
    points[kind].value = shown.utility.points ?? [];
  }
  const { of, statistic } = objective?.latency ?? FIRST.latency;
  elements["latency.of"].value = of;
  elements["latency.statistic"].value = statistic;
  elements.priority.value = objective?.priority ?? FIRST.priority;
}

/** The SLO that the form says, as the API takes it; numbers that are no numbers are NaN. */
export function read(form, points) {
  const { elements } = form;
  const number = (name) => (elements[name].value === "" ? NaN : Number(elements[name].value));
  const utility = (kind) => {
    const shape = elements[`${kind}.utility.shape`].value;
    return shape === "points" ? { shape, points: points[kind].value } : { shape };
  };
  const latency = {
    of: elements["latency.of"].value,
    statistic: elements["latency.statistic"].value,
    threshold_ms: number("latency.threshold_ms"),
    utility: utility("latency"),
  };
  const juice = { threshold: number("juice.threshold"), utility: utility("juice") };
  return {
    latency: elements.latency.checked ? latency : null,
    juice: elements.juice.checked ? juice : null,
    priority: number("priority"),
  };
}

/** → [{field, detail}], as the server would refuse it. */
export function faults(objective) {
  const found = [];
  if (!objective.latency && !objective.juice) found.push({ field: "latency", detail: "An SLO needs a latency, a juice or both" });
  for (const kind of TARGETS) {
    const target = objective[kind];
    if (!target) continue;
    const value = target[THRESHOLDS[kind]];
    if (!(value > 0 && value <= KINDS[kind].most)) found.push({ field: `${kind}.${THRESHOLDS[kind]}`, detail: LIMITS[kind] });
    if (target.utility.shape !== "points") continue;
    const detail = pointsFault(kind, target.utility.points);
    if (detail) found.push({ field: `${kind}.utility.points`, detail });
  }
  const { priority } = objective;
  if (!(priority >= LOWEST_PRIORITY && priority <= HIGHEST_PRIORITY)) found.push({ field: "priority", detail: `From ${LOWEST_PRIORITY} to ${HIGHEST_PRIORITY}` });
  return found;
}

/** Shows each fault at its field; returns those that have none here. */
export function showFaults(form, found) {
  for (const old of form.querySelectorAll("small.field-error")) old.remove();
  for (const node of form.querySelectorAll("[aria-invalid]")) {
    node.removeAttribute("aria-invalid");
    node.removeAttribute("aria-describedby");
  }
  return found.filter(({ field, detail }, i) => {
    const node = fieldOf(form, field);
    if (!node) return true;
    const id = `slo-fault-${i}`;
    node.setAttribute("aria-invalid", "true");
    node.setAttribute("aria-describedby", id);
    (node.closest("label") ?? node).after(element("small", { class: "field-error", id }, `${detail}.`));
    return false;
  });
}

export function focusFirst(form) {
  const node = form.querySelector("[aria-invalid]");
  (node?.matches("input, select") ? node : node?.querySelector("input"))?.focus();
}

// The server's path may begin with the body's name and end deeper than there is a field.
function fieldOf(form, field) {
  const path = field.replace(/^(?:payload|body)\./, "").replace(/^objective\./, "");
  const points = path.match(/^(latency|juice)\.utility\.points/);
  if (points) return form.querySelector(`[data-points="${points[1]}"]`);
  return form.elements.namedItem(path);
}
