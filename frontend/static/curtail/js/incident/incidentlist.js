/** The list of all incidents, newest first, filtered by the page's address. */

import { incidentUrl, jobUrl } from "../core/api.js";
import { element, part, setText } from "../core/dom.js";
import { FilteredList } from "../core/filtered.js";
import { age, count, text } from "../core/format.js";
import { kindName } from "./kinds.js";
import { dayTime, zoneName } from "../core/times.js";
import { chosenZone, onZone } from "../core/zone.js";

const list = new FilteredList("incidents", ["state", "kind", "job"], show);

function show(incidents, { filtered }) {
  const zone = chosenZone();
  setText(part("empty"), filtered ? "No incident matches." : "None yet. When latency rises for a reason that Curtail knows, it is told here.");
  setText(part("when"), `Onset (${zoneName(Date.now(), zone)})`);
  part("rows").replaceChildren(...incidents.map((incident) => row(incident, zone)));
}

function row(incident, zone) {
  const { id, job, state, severity, onset_ms: onsetMs, end_ms: endMs, occurrences } = incident;
  const lasted = age((endMs ?? Date.now()) - onsetMs);
  return element(
    "tr",
    { "data-state": state },
    element("th", { scope: "row" }, element("a", { href: incidentUrl(id) }, incident.title), element("span", { class: "note" }, kindName(incident.kind))),
    element("td", { "data-label": "Job" }, element("a", { class: "break", href: jobUrl(job) }, job)),
    element("td", { "data-label": "State" }, element("span", { class: "incident-state" }, state)),
    element("td", { "data-label": "Severity" }, severity),
    element("td", { class: "number", "data-label": "Onset" }, element("time", { datetime: new Date(onsetMs).toISOString() }, dayTime(onsetMs, zone))),
    element("td", { class: "number", "data-label": "Lasted" }, state === "resolved" ? lasted : `${lasted}, goes on`),
    element("td", { class: "number", "data-label": "Seen" }, occurrences === 1 ? "once" : `${text(count(occurrences))} times`),
  );
}

for (const option of part("filters").kind.options) if (option.value) setText(option, kindName(option.value));
onZone(() => list.show());
list.load();
