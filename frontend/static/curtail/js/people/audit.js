/** The audit page: entries, newest first, filtered by the page's address. */

import { jobUrl } from "../core/api.js";
import { changes, fieldName, shown } from "./change.js";
import { element, part, setText } from "../core/dom.js";
import { FilteredList } from "../core/filtered.js";
import { dateTime, zoneName } from "../core/times.js";
import { chosenZone, onZone } from "../core/zone.js";

const list = new FilteredList("audit", ["who", "action", "job"], show);

function show(entries, { filtered }) {
  const zone = chosenZone();
  setText(part("empty"), filtered ? "No entry matches." : "Nothing was changed yet. Every change leaves an entry here that nobody can alter.");
  setText(part("when"), `When (${zoneName(Date.now(), zone)})`);
  part("rows").replaceChildren(...entries.map((entry) => row(entry, zone)));
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

onZone(() => list.show());
list.load();
