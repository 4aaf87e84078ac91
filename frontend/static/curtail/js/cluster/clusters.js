/** All clusters, and what to do where there is none. */

import { apiUrl, clusterUrl, getJson } from "../core/api.js";
import { copyable } from "../core/copy.js";
import { element, part } from "../core/dom.js";
import { count, text } from "../core/format.js";
import { utilityWords } from "../slo/standing.js";
import { bar } from "./jobrows.js";
import { poll } from "./polling.js";
import { sizeWords, stateName } from "./states.js";

function show(items) {
  part("empty").hidden = items.length > 0;
  part("table").hidden = items.length === 0;
  part("rows").replaceChildren(...items.map(row));
  part("view").dataset.view = "list";
}

function row({ name, jobs, utility, max_utility: most, met, with_slo: withSlo, state, size, mode }) {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("a", { href: clusterUrl(name) }, name)),
    element("td", { class: "number", "data-label": "Jobs" }, text(count(jobs))),
    element("td", { class: "utility-cell", "data-label": "Utility" }, utilityWords(utility, most), bar(utility / most)),
    element("td", { class: "number", "data-label": "SLOs met" }, `${met} of\u00a0${withSlo}`),
    element("td", { "data-label": "State" }, stateName(state, mode)),
    element("td", { class: "number", "data-label": "Size" }, sizeWords(size)),
  );
}

/** The lines to copy, for a job that may not exist yet. */
function lines() {
  const address = (path) => new URL(apiUrl(path), location.href).href;
  const put = (path, body) =>
    [`curl -X PUT ${address(path)}`, '-H "Authorization: Bearer $CURTAIL_TOKEN"', '-H "Content-Type: application/json"', `-d '${spaced(body)}'`].join(" \\\n  ");
  const latency = { of: "committed", statistic: "p99", threshold_ms: 500, utility: { shape: "knee" } };
  return {
    tags: put("jobs/orders.enrich/tags", { tags: ["cluster:prod"] }),
    slo: put("jobs/orders.enrich/slo", { objective: { latency, juice: null, priority: 35 }, version: 0 }),
  };
}

/** JSON in which a long line may break. */
function spaced(body) {
  return JSON.stringify(body).replaceAll(/([,:])"/g, '$1 "').replaceAll(/":(?=\S)/g, '": ');
}

for (const [name, line] of Object.entries(lines())) {
  document.querySelector(`[data-line="${name}"]`).replaceChildren(copyable(line, name));
}
poll(() => getJson(apiUrl("clusters")), ({ items }) => show(items));
