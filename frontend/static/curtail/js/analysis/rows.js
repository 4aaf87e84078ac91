/** Findings as rows and sentences, each linked to the job page at its time. */

import { jobUrl } from "../core/api.js";
import { element } from "../core/dom.js";
import { age, count, duration, text } from "../core/format.js";
import { dateTime } from "../core/times.js";
import { kindName } from "../incident/kinds.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WEEKDAYS = ["Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"];

/** The job page from `beforeMs` before the time to `afterMs` after it. */
export function jobAt(job, atMs, beforeMs = MINUTE_MS, afterMs = MINUTE_MS) {
  return `${jobUrl(job)}?from=${Math.round(atMs - beforeMs)}&to=${Math.round(atMs + afterMs)}`;
}

export function changeHead(change, zone) {
  const { job, at_ms: atMs, before, after, ratio, p_value: p } = change;
  const others = change.with.map(changedWith);
  return element(
    "figcaption",
    { class: "change-head" },
    element("a", { href: jobAt(job, atMs, 6 * HOUR_MS, 6 * HOUR_MS) }, job),
    element("span", { class: "number" }, `${text(duration(before))} → ${text(duration(after))} (×${ratio.toPrecision(3)}) since ${dateTime(atMs, zone)}`),
    element("span", { class: "muted" }, others.length ? `with ${others.join(", ")}` : "with nothing that we know", ` · p = ${p.toPrecision(2)}`),
  );
}

function changedWith({ what, before, after }) {
  const side = (value) => (typeof value === "string" ? value.slice(0, 8) : text(count(Math.round(value))));
  return `${what} ${side(before)} → ${side(after)}`;
}

export function pairRow(pair, at, zone) {
  const [one, other] = pair.jobs;
  const elsewhere = pair.elsewhere.length ? `also elsewhere: ${pair.elsewhere.join(", ")}` : null;
  return element(
    "tr",
    {},
    element(
      "th",
      { scope: "row" },
      element("span", {}, `${at + 1}. `, element("a", { href: jobAt(one, pair.examples_ms[0]) }, one), " and ", element("a", { href: jobAt(other, pair.examples_ms[0]) }, other)),
      elsewhere && element("span", { class: "elsewhere" }, elsewhere),
    ),
    element("td", { class: "break", "data-label": "Host" }, pair.host),
    element("td", { class: "number", "data-label": "Together" }, `${pair.meetings} of ${Math.min(...pair.stalls)} stalls`),
    element("td", { class: "number", "data-label": "By chance" }, pair.expected.toFixed(1)),
    element("td", { class: "number", "data-label": "p-value" }, pair.p_value.toPrecision(2)),
    element("td", { "data-label": "For example" }, element("span", { class: "times" }, ...pair.examples_ms.slice(0, 3).map((ms) => element("a", { href: jobAt(one, ms) }, dateTime(ms, zone))))),
  );
}

/** "gc shadow: 03:00 (7 of 7 days, 0.3 by chance)" */
export function recurrenceWords(recurrence) {
  const told = Object.entries(recurrence).flatMap(([kind, { hours, weekdays }]) => [
    ...hours.map((often) => `${named(kind)}: ${String(often.place).padStart(2, "0")}:00 UTC (${share(often, "days")})`),
    ...weekdays.map((often) => `${named(kind)}: ${WEEKDAYS[often.place]} (${share(often, "weeks")})`),
  ]);
  return told.length ? `More than an even spread gives: ${told.join("; ")}.` : "No hour and no weekday has more than an even spread gives. All in UTC.";
}

function named(kind) {
  return kind === "all" ? "all incidents" : kindName(kind);
}

function share({ hits, tries, expected }, of) {
  return `${hits} of ${tries} ${of}, ${expected.toFixed(1)} by chance`;
}

export function effectRow({ job, switch: made, p99 }, zone) {
  const known = p99 && p99.low !== null;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("a", { href: jobAt(job, made.at_ms, HOUR_MS, HOUR_MS) }, job)),
    element("td", { "data-label": "Technique" }, `${made.technique}: ${made.to}`),
    element("td", { class: "number", "data-label": "Switched" }, dateTime(made.at_ms, zone)),
    element("td", { class: "number", "data-label": "p99 after / before" }, p99 ? `×${p99.ratio.toPrecision(3)}` : "not known"),
    element("td", { class: "number", "data-label": "95 % interval" }, known ? `×${p99.low.toPrecision(3)} – ×${p99.high.toPrecision(3)}` : "too little data"),
  );
}

export function jobRow(job, report, zone) {
  const worst = job.worst[0];
  const range = `${jobUrl(job.job)}?from=${report.start_ms}&to=${report.end_ms}`;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("a", { href: range }, job.job)),
    element("td", { class: "number", "data-label": "p99 raised" }, age(job.raised_s * 1000)),
    element("td", { class: "number", "data-label": "Data" }, age(job.seconds * 1000)),
    element("td", { class: "number", "data-label": "Incidents" }, String(job.incidents)),
    element("td", { "data-label": "Worst incident" }, worst ? element("a", { href: jobAt(job.job, worst.onset_ms) }, `${kindName(worst.kind)}, ${dateTime(worst.onset_ms, zone)}`) : ""),
  );
}
