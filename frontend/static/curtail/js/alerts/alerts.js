/** The alerts page: endpoints, and what was delivered to each. */

import { ask } from "../core/ask.js";
import { apiUrl, getJson, sendJson } from "../core/api.js";
import { wireCopyButtons } from "../core/copy.js";
import { hideDeliveries, redrawDeliveries, showDeliveries } from "./deliveries.js";
import { element, part } from "../core/dom.js";
import { openEndpoint, wireEndpoint } from "./endpoint.js";
import { hideOnce, showOnce } from "../people/once.js";
import { dayTime } from "../core/times.js";
import { tried } from "../core/trouble.js";
import { chosenZone, onZone } from "../core/zone.js";

const operates = document.body.dataset.role !== "viewer";
let endpoints = [];

function show() {
  part("loading").hidden = true;
  part("empty").hidden = endpoints.length > 0;
  part("table").hidden = endpoints.length === 0;
  part("rows").replaceChildren(...endpoints.map(row));
  part("view").dataset.view = "list";
}

function row(endpoint) {
  return element(
    "tr",
    { "data-active": String(endpoint.active) },
    element("th", { scope: "row" }, endpoint.name),
    element("td", { class: "address", "data-label": "Goes to" }, endpoint.url),
    element("td", { "data-label": "Format" }, endpoint.format),
    element("td", { "data-label": "Hears of" }, ...hears(endpoint)),
    element("td", { "data-label": "State" }, ...state(endpoint)),
    element("td", { class: "acts" }, ...acts(endpoint)),
  );
}

function hears({ job, events, kinds, least_severity: least }) {
  const what = events.length ? events.join(", ") : "all events";
  const notes = [job ?? "all jobs"];
  if (least !== "info") notes.push(least === "critical" ? least : `${least} and worse`);
  if (kinds.length) notes.push(kinds.join(", "));
  return [element("div", {}, what, element("span", { class: "note" }, notes.join(" · ")))];
}

function state(endpoint) {
  const zone = chosenZone();
  const notes = [];
  if (endpoint.paused_until_ms) notes.push(`asked to wait until ${dayTime(endpoint.paused_until_ms, zone)}`);
  if (endpoint.previous_secret_until_ms) {
    notes.push(`the old secret signs along until ${dayTime(endpoint.previous_secret_until_ms, zone)}`);
  }
  if (endpoint.waiting) notes.push(`${endpoint.waiting} waiting`);
  if (endpoint.failed) notes.push(`${endpoint.failed} given up`);
  const word = endpoint.active ? "on" : `off: ${endpoint.disabled_because}`;
  return [element("div", {}, word, ...notes.map((note) => element("span", { class: "note" }, note)))];
}

function acts(endpoint) {
  const log = action("Deliveries", endpoint, () => showDeliveries(endpoint, { operates, changed: load }));
  if (!operates) return [log];
  const buttons = [log];
  if (endpoint.active) buttons.push(action("Test", endpoint, (button) => test(endpoint, button)));
  buttons.push(
    action("Edit", endpoint, () => openEndpoint(endpoint)),
    action("New secret", endpoint, (button) => rotate(endpoint, button)),
    action("Delete", endpoint, (button) => remove(endpoint, button)),
  );
  return buttons;
}

function action(label, endpoint, work) {
  const button = element("button", { class: "plain", type: "button", "aria-label": `${label}: ${endpoint.name}` }, label);
  button.addEventListener("click", () => work(button));
  return button;
}

async function test(endpoint, button) {
  const sent = await tried(button, () => sendJson("POST", apiUrl(`webhooks/${endpoint.id}/test`)));
  if (sent) await showDeliveries(endpoint, { operates, changed: load });
}

async function rotate(endpoint, button) {
  const reason = await ask({
    title: `A new secret for ${endpoint.name}?`,
    text: "Messages are signed with both for 24 hours, then with the new one alone.",
    yes: "Make a new secret",
  });
  if (reason === null) return;
  const rotated = await tried(button, () => sendJson("POST", apiUrl(`webhooks/${endpoint.id}/rotate`), { reason }));
  if (rotated) took(rotated);
}

async function remove(endpoint, button) {
  const reason = await ask({
    title: `Delete ${endpoint.name}?`,
    text: "What waits for it is not sent any more, and the log of its deliveries goes as well.",
    yes: "Delete",
  });
  if (reason === null) return;
  const url = `${apiUrl(`webhooks/${endpoint.id}`)}?reason=${encodeURIComponent(reason)}`;
  if ((await tried(button, () => sendJson("DELETE", url))) === undefined) return;
  hideOnce();
  hideDeliveries(endpoint.id);
  endpoints = endpoints.filter(({ id }) => id !== endpoint.id);
  show();
}

/** An endpoint as the server has it now, with its secret if that is new. */
function took({ secret, ...endpoint }) {
  const known = endpoints.some(({ id }) => id === endpoint.id);
  endpoints = known
    ? endpoints.map((each) => (each.id === endpoint.id ? endpoint : each))
    : [...endpoints, endpoint];
  show();
  if (secret) showOnce(secret, endpoint.name);
}

async function load() {
  const answer = await tried(null, () => getJson(apiUrl("webhooks")));
  part("loading").hidden = true;
  if (!answer) return;
  endpoints = answer.items;
  show();
}

if (operates) {
  wireEndpoint(took);
  part("add").addEventListener("click", () => openEndpoint(null));
}
onZone(() => {
  show();
  redrawDeliveries();
});
wireCopyButtons();
load();
