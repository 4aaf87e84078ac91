/** One technique as a card: what it does, whether it fits, its switch, what it did and what came of it. */

import { advice, otherwise } from "./advice.js";
import { mayOperate } from "../core/role.js";
import { element } from "../core/dom.js";
import { age, count, duration, text } from "../core/format.js";
import { isEmpty, techniqueFigure } from "./figure.js";
import { clockTime, zoneName } from "../core/times.js";

const MODES = ["off", "advise", "act"];
const PERCENTILES = [["p50", "p50"], ["p99", "p99"], ["p999", "p99.9"]];

/** Where something else should be done first, that comes before the switch; `advises` is false where the page has said it already. */
export function card(item, { zone, nowMs, unfolded, onMode, advises = true }) {
  const first = advises ? item.conditions.first : null;
  return element(
    "article",
    { class: "card", id: `technique-${item.name}`, "data-state": item.state, "data-mode": item.mode, "aria-labelledby": `${item.name}-title` },
    element("div", { class: "card-head" }, element("h3", { id: `${item.name}-title` }, item.title), first ? null : modes(item, onMode)),
    first ? advice(first) : null,
    first ? element("div", { class: "card-head" }, element("p", {}, otherwise(first)), modes(item, onMode)) : null,
    element("p", {}, item.sentence),
    state(item, nowMs),
    failure(item),
    conditions(item),
    chosenOptions(item),
    decision(item, zone, unfolded),
    figure(item),
    effect(item, zone),
  );
}

function modes(item, onMode) {
  if (!mayOperate()) return element("p", { class: "card-mode" }, item.mode);
  const buttons = MODES.map((mode) => {
    const button = element(
      "button",
      { type: "button", "aria-pressed": String(item.mode === mode), "data-of": `${item.name} ${mode}` },
      mode,
    );
    button.addEventListener("click", () => item.mode !== mode && onMode(mode));
    return button;
  });
  return element("div", { class: "choice card-mode", role: "group", "aria-label": `Mode of ${item.title}` }, ...buttons);
}

function state({ mode, state: now, because, since_ms, by }, nowMs) {
  const who = [by && ` by ${by}`, since_ms && ` ${age(nowMs - since_ms)} ago`].filter(Boolean).join(",");
  const asked = `“${mode}” asked${who} →`;
  const words = {
    off: who ? `Switched off${who}.` : "Off.",
    asked: `${asked} waiting for the job to answer.`,
    applied: `${asked} applied.`,
    refused: `${asked} refused because ${because || "the job did not say."}`,
  };
  return element("p", { class: "card-state", role: "status" }, words[now] ?? now);
}

function failure({ failure: said }) {
  return said ? element("p", { class: "card-failure" }, `The worker has trouble with this job: ${sentence(said)}`) : null;
}

function conditions({ conditions: { hold, why }, needs }) {
  const word = hold === true ? "Its conditions hold here now" : hold === false ? "Its conditions do not hold here now" : "Not known yet whether its conditions hold";
  return element(
    "p",
    { class: "card-conditions", "data-hold": String(hold) },
    element("strong", {}, word),
    why ? `: ${sentence(why)}` : ".",
    needs ? element("span", { class: "muted" }, ` It needs ${sentence(needs)}`) : null,
  );
}

function chosenOptions({ options, mode }) {
  if (mode === "off" || options.length === 0) return null;
  const others = different(options);
  if (others.length === 0) return element("p", { class: "muted" }, "Options as usual.");
  const said = others.map(({ title, value, unit }) => `${title} ${value === true ? "on" : value === false ? "off" : value}${unit ? ` ${unit}` : ""}`);
  return element("p", { class: "muted" }, said.join(" · "));
}

function sentence(words) {
  return words.endsWith(".") ? words : `${words}.`;
}

/** The figure of the card; an empty one is left out while the technique is off. */
function figure({ figure: drawn, mode }) {
  return drawn && (mode !== "off" || !isEmpty(drawn)) ? techniqueFigure(drawn) : null;
}

/** The options whose values differ from their defaults. */
export function different(options) {
  return options.filter(({ value, default: usual }) => value !== usual);
}

function decision({ name, decision: made }, zone, unfolded) {
  if (!made) return element("p", { class: "muted" }, "No decision yet.");
  const pairs = [
    ...made.evidence.map((each) => [each.name, each.value]),
    ...Object.entries(made.settings ?? {}).map(([setting, value]) => [setting, String(value)]),
  ];
  return element(
    "details",
    { "data-of": name, open: unfolded.has(name) },
    element("summary", {}, `Latest decision, ${clockTime(made.at_ms, zone)} ${zoneName(made.at_ms, zone)}: `, made.reason),
    element("dl", { class: "pairs" }, ...pairs.map(([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value)))),
  );
}

function effect({ effect: seen }, zone) {
  if (!seen) return element("p", { class: "muted" }, "No effect to show yet.");
  const { before, after, ratios } = seen;
  const cells = ([key, label]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, label),
      element("td", {}, text(duration(before[key]))),
      element("td", {}, text(duration(after[key]))),
      element("td", {}, spread(ratios[key])),
    );
  const span = ({ start_ms, end_ms }) => `${clockTime(start_ms, zone)}–${clockTime(end_ms, zone)}`;
  return element(
    "table",
    { class: "numbers" },
    element("caption", {}, `Effect so far: ${span(before)} before, ${span(after)} after (${zoneName(after.end_ms, zone)}); ${text(count(before.count))} and ${text(count(after.count))} records${before.blocks ? "; means over blocks of 10 s" : ""}`),
    element("thead", {}, element("tr", {}, ...["", "before", "after", "after over before, 95 % interval"].map((label) => element("th", { scope: "col" }, label)))),
    element("tbody", {}, ...PERCENTILES.map(cells)),
  );
}

/** "×0.52 (0.48 to 0.57)" */
export function spread(given) {
  if (!given || !Number.isFinite(given.ratio)) return "–";
  const said = `×${given.ratio.toPrecision(3)}`;
  return Number.isFinite(given.low) ? `${said} (${given.low.toPrecision(3)} to ${given.high.toPrecision(3)})` : said;
}
