/** The list of analyses, and the form that asks for another. */

import { analysisUrl, apiUrl, getJson, sendJson } from "../core/api.js";
import { clock } from "../core/clock.js";
import { element, part, setText } from "../core/dom.js";
import { dateTime, fromField, toField, zoneName } from "../core/times.js";
import { tried } from "../core/trouble.js";
import { chosenZone, onZone } from "../core/zone.js";

const WEEK_MS = 7 * 86_400_000;
const AGAIN_MS = 2000;

const form = part("ask");
let items = [];
let range = [Date.now() - WEEK_MS, Date.now()];

function show() {
  const zone = chosenZone();
  setText(part("when"), `Asked (${zoneName(Date.now(), zone)})`);
  part("loading").hidden = true;
  part("empty").hidden = items.length > 0;
  part("table").hidden = items.length === 0;
  part("rows").replaceChildren(...items.map((each) => row(each, zone)));
  part("view").dataset.view = "list";
}

function row(analysis, zone) {
  const words = `${dateTime(analysis.start_ms, zone)} – ${dateTime(analysis.end_ms, zone)}`;
  const jobs = analysis.jobs.length ? analysis.jobs.join(", ") : "all";
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("a", { href: analysisUrl(analysis.id) }, words)),
    element("td", { "data-label": "Jobs" }, element("span", { class: "break" }, jobs)),
    element("td", { "data-label": "State" }, element("span", { class: `state-${analysis.state}` }, standing(analysis))),
    element("td", { "data-label": "Asked by" }, analysis.asked_by),
    element("td", { class: "number", "data-label": "Asked" }, dateTime(analysis.asked_ms, zone)),
  );
}

function standing({ state, done, total }) {
  return state === "running" && total ? `${done} of ${total} jobs` : state;
}

function fill() {
  if (!form) return;
  const zone = chosenZone();
  const name = zoneName(Date.now(), zone);
  setText(part("from-label"), `From (${name})`);
  setText(part("to-label"), `To (${name})`);
  form.elements.start.value = toField(range[0], zone);
  form.elements.end.value = toField(range[1], zone);
}

async function load() {
  const answer = await tried(null, () => getJson(apiUrl("analyses")));
  if (answer) {
    items = answer.items;
    show();
  }
  if (items.some(({ state }) => state === "waiting" || state === "running")) clock.after(AGAIN_MS, load);
}

form?.addEventListener("change", () => {
  const read = ["start", "end"].map((name) => fromField(form.elements[name].value, chosenZone()));
  range = read.map((ms, at) => ms ?? range[at]);
});

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const jobs = form.elements.jobs.value.split(",").map((job) => job.trim()).filter(Boolean);
  const body = { start_ms: range[0], end_ms: range[1], jobs };
  const made = await tried(part("analyse"), () => sendJson("POST", apiUrl("analyses"), body));
  if (made) location.assign(analysisUrl(made.id));
});

onZone(() => {
  fill();
  show();
});
fill();
load();
