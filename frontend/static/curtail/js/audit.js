/** The audit page: entries, newest first, filtered by the page's address. */

import { apiUrl, getJson, jobUrl } from "./api.js";
import { changes, fieldName, shown } from "./change.js";
import { element, part, setText } from "./dom.js";
import { dateTime, zoneName } from "./times.js";
import { tried } from "./trouble.js";
import { chosenZone, onZone } from "./zone.js";

const PAGE = 50;
const filters = part("filters");
const NAMES = ["who", "action", "job"];
let entries = [];
let next = null;
let asked = 0;

function show() {
  const zone = chosenZone();
  const filtered = NAMES.some((name) => filters[name].value);
  part("loading").hidden = true;
  part("table").hidden = entries.length === 0;
  part("empty").hidden = entries.length > 0;
  setText(part("empty"), filtered ? "No entry matches." : "Nothing was changed yet. Every change leaves an entry here that nobody can alter.");
  setText(part("when"), `When (${zoneName(Date.now(), zone)})`);
  part("rows").replaceChildren(...entries.map((entry) => row(entry, zone)));
  part("more").hidden = next === null;
  part("view").dataset.view = "list";
}

function row(entry, zone) {
  const when = element("time", { datetime: new Date(entry.at_ms).toISOString() }, dateTime(entry.at_ms, zone));
  const job = entry.job ? element("a", { class: "job break", href: jobUrl(entry.job) }, entry.job) : null;
  const what = [`${words(entry.action)} `];
  // What was done to a job itself needs its name once.
  if (entry.subject !== entry.job) what.push(element("strong", {}, entry.subject));
  if (job) what.push(job);
  return element(
    "tr",
    {},
    element("td", { class: "number when" }, when),
    element("th", { scope: "row" }, entry.who),
    element("td", { class: "break" }, element("div", {}, ...what)),
    element("td", { class: "changed" }, ...lines(entry, zone)),
    element("td", { class: "reason" }, ...(entry.reason ? [element("span", {}, entry.reason)] : [])),
  );
}

function lines(entry, zone) {
  const found = changes(entry.before, entry.after);
  return found.length === 0 ? [] : [element("dl", { class: "change" }, ...found.map((each) => line(each, zone)))];
}

function line({ field, from, to }, zone) {
  const was = from === null ? null : element("del", {}, shown(field, from, zone));
  const is = to === null ? null : element("ins", {}, shown(field, to, zone));
  return element(
    "div",
    {},
    element("dt", {}, fieldName(field)),
    element("dd", {}, was, was && is ? " → " : null, is),
  );
}

/** "user.password-reset" → "user password reset" */
function words(action) {
  return action.replaceAll(/[.-]/g, " ").replace(/^slo\b/, "SLO");
}

async function load({ more = false } = {}) {
  const query = new URLSearchParams({ limit: PAGE });
  for (const name of NAMES) if (filters[name].value) query.set(name, filters[name].value);
  if (more) query.set("cursor", next);
  asked += 1;
  const question = asked;
  const answer = await tried(part("show-more"), () => getJson(`${apiUrl("audit")}?${query}`));
  part("loading").hidden = true;
  // A slow answer to an earlier question must not replace that of a later one.
  if (!answer || question !== asked) return;
  entries = more ? [...entries, ...answer.items] : answer.items;
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
filters.addEventListener("submit", filter);
filters.addEventListener("change", filter);
part("show-more").addEventListener("click", () => load({ more: true }));
onZone(show);
load();
