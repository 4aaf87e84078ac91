/** The list of all incidents, newest first, filtered by the page's address. */

import { apiUrl, getJson, incidentUrl, jobUrl } from "./api.js";
import { element, part, setText } from "./dom.js";
import { age, count, text } from "./format.js";
import { kindName } from "./kinds.js";
import { dayTime, zoneName } from "./times.js";
import { tried } from "./trouble.js";
import { chosenZone, onZone } from "./zone.js";

const PAGE = 50;
const NAMES = ["state", "kind", "job"];
const filters = part("filters");
let incidents = [];
let next = null;
let question = 0;

function show() {
  const zone = chosenZone();
  const filtered = NAMES.some((name) => filters[name].value);
  part("table").hidden = incidents.length === 0;
  part("empty").hidden = incidents.length > 0;
  setText(part("empty"), filtered ? "No incident matches." : "None yet. When latency rises for a reason that Curtail knows, it is told here.");
  setText(part("when"), `Onset (${zoneName(Date.now(), zone)})`);
  part("rows").replaceChildren(...incidents.map((incident) => row(incident, zone)));
  part("more").hidden = next === null;
  part("view").dataset.view = "list";
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

async function load({ more = false } = {}) {
  const query = new URLSearchParams({ limit: PAGE });
  for (const name of NAMES) if (filters[name].value) query.set(name, filters[name].value);
  if (more) query.set("cursor", next);
  question += 1;
  const mine = question;
  const answer = await tried(part("show-more"), () => getJson(`${apiUrl("incidents")}?${query}`));
  part("loading").hidden = true;
  // A slow answer to an earlier question must not replace that of a later one.
  if (!answer || mine !== question) return;
  incidents = more ? [...incidents, ...answer.items] : answer.items;
  next = answer.next;
  show();
}

function filter(event) {
  event?.preventDefault();
  const address = new URL(location.href);
  for (const name of NAMES) {
    if (filters[name].value) address.searchParams.set(name, filters[name].value);
    else address.searchParams.delete(name);
  }
  history.replaceState(null, "", address);
  load();
}

for (const name of NAMES) filters[name].value = new URLSearchParams(location.search).get(name) ?? "";
for (const option of filters.kind.options) if (option.value) setText(option, kindName(option.value));
filters.addEventListener("submit", filter);
filters.addEventListener("change", filter);
part("show-more").addEventListener("click", () => load({ more: true }));
onZone(show);
load();
