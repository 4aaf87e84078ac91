/** The page of one cluster: utility over time, what was done and why, and its jobs. */

import { apiUrl, getJson, jobUrl, sendJson } from "../core/api.js";
import { Chart } from "../chart/chart.js";
import { readings } from "../chart/readout.js";
import { ask } from "../core/dialog.js";
import { element, part, setText } from "../core/dom.js";
import { percent, text } from "../core/format.js";
import { recall, remember } from "../core/remember.js";
import { mayOperate } from "../core/role.js";
import { onTheme } from "../core/theme.js";
import { dayTime, zoneName } from "../core/times.js";
import { chosenZone, onZone } from "../core/zone.js";
import { targetWords } from "../slo/objective.js";
import { utilityWords } from "../slo/standing.js";
import { actionRow, happenings, inWords } from "./actions.js";
import { jobRow } from "./jobrows.js";
import { Marks } from "./marks.js";
import { clusterPanels } from "./panels.js";
import { poll } from "./polling.js";
import { Samples } from "./samples.js";
import { sizeWords, stateWords } from "./states.js";

const FEW_ACTIONS = 9;
const SPANS = ["3600000", "21600000", "86400000"];

const main = part("cluster");
const path = `clusters/${encodeURIComponent(main.dataset.cluster)}`;
const root = part("chart");
const span = part("span");
const hidden = new Set();
let cluster = null;
let samples = new Samples(10_000, { t: [], columns: {} });
let actions = [];
let chosen = null; // the action that is read
let all = false; // whether older actions are listed
let waiting = false;

const chart = new Chart(root, { canvas: part("lines"), plot: part("plot"), heads: part("heads"), cursor: part("cursor") }, {
  hidden,
  onRange: () => {},
  onFollow: () => {},
  onCursor: readAt,
  onSize: draw,
  onToggle: draw,
});
const marks = new Marks(part("marks"), choose);

function take(answer) {
  cluster = answer;
  const { step_ms: stepMs, t, total, max, jobs } = answer.series;
  const columns = { total, most: max, ...Object.fromEntries(Object.entries(jobs).map(([id, values]) => [`job ${id}`, values])) };
  samples = new Samples(stepMs, { t, columns });
  actions = happenings(answer.actions, answer.mode);
}

function show() {
  part("report").hidden = false;
  main.dataset.view = cluster.jobs.length ? "cluster" : "empty";
  const { word, detail, tone } = stateWords(cluster);
  part("state-line").dataset.tone = tone;
  setText(part("state-word"), word);
  setText(part("state-detail"), detail);
  showFacts();
  showActions();
  part("job-rows").replaceChildren(...byPriority().map((job) => jobRow(job, { zone: chosenZone(), nowMs: cluster.now_ms, mode: cluster.mode })));
  draw();
}

function showFacts() {
  const { utility, max_utility: most, jobs, mode, size } = cluster;
  const withSlo = jobs.filter(({ objective }) => objective);
  const facts = [
    ["Utility", `${utilityWords(utility, most)}${utility === null ? "" : ` (${text(percent((100 * utility) / most))})`}`],
    ["SLOs met", `${withSlo.filter(({ met }) => met).length} of\u00a0${withSlo.length}`],
    ["Mode", jobs.length ? element("a", { href: `${jobUrl(jobs[0].id)}#technique-slo`, title: "The switch is on the page of every job" }, mode) : mode],
    ["Size", sizeWords(size)],
  ];
  part("facts").replaceChildren(...facts.map(([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value))));
  part("size-open").hidden = !mayOperate();
}

function showActions() {
  setText(part("actions-title"), cluster.mode === "advise" ? "What it would do" : "Actions");
  const newest = actions.toReversed();
  const shown = all ? newest : newest.slice(0, FEW_ACTIONS);
  const list = part("actions");
  const focused = list.contains(document.activeElement) ? document.activeElement.closest("[data-of]")?.dataset.of : null;
  list.replaceChildren(...shown.map((action) => actionRow(action, { zone: chosenZone(), nowMs: cluster.now_ms, chosen, onChoose: choose })));
  if (focused) list.querySelector(`[data-of="${CSS.escape(focused)}"] button`)?.focus();
  part("actions-none").hidden = actions.length > 0;
  setText(part("actions-none"), "Nothing in this time.");
  part("actions-more").hidden = shown.length === newest.length;
}

function choose(key) {
  chosen = chosen === key ? null : key;
  if (chosen && actions.findIndex((action) => action.key === chosen) < actions.length - FEW_ACTIONS) all = true;
  showActions();
  draw();
  if (chosen) part("actions").querySelector("[data-chosen]")?.scrollIntoView({ block: "nearest" });
}

/** The jobs that count most come first, as they are helped first. */
function byPriority() {
  return cluster.jobs.toSorted((a, b) => (b.objective?.priority ?? 0) - (a.objective?.priority ?? 0) || a.id.localeCompare(b.id));
}

function draw() {
  if (!cluster || waiting) return;
  waiting = true;
  requestAnimationFrame(async () => {
    waiting = false;
    const endMs = cluster.now_ms;
    const range = [endMs - Number(span.value), endMs];
    const panels = clusterPanels(
      byPriority()
        .filter(({ objective }) => objective)
        .map(({ id, objective }) => ({ id, title: id, words: targetWords(objective), most: objective.priority, actions: actions.filter(({ jobs, quiet }) => !quiet && jobs.includes(id)) })),
    );
    await chart.draw({ ring: samples, range, panels, hidden, scale: "linear", zone: chosenZone(), state: "there" });
    const zone = chosenZone();
    marks.show(chart, range, actions.map((action) => ({ ...action, label: inWords(action, zone) })), chosen);
    root.dataset.drawn = String(Number(root.dataset.drawn) + 1);
    root.dataset.lines = String(chart.lines);
  });
}

function readAt(atMs, reachMs, series) {
  const number = atMs === null ? null : samples.near(atMs);
  const ms = number === null ? atMs : number * samples.windowMs;
  setText(part("cursor-time"), atMs === null ? "" : `${dayTime(ms, chosenZone())} ${zoneName(ms, chosenZone())}`);
  return atMs === null ? new Map() : readings(series, number, atMs, reachMs);
}

async function resize() {
  const dialog = part("size-dialog");
  const { elements } = dialog.querySelector("form");
  elements.size.value = cluster.size ?? "";
  elements.reason.value = "";
  const put = await ask(dialog, () => sendJson("PUT", apiUrl(path), { size: elements.size.value === "" ? null : Number(elements.size.value), reason: elements.reason.value }));
  if (put) load();
  part("size-open").focus();
}

const again = () => cluster && show();
span.value = recall("cluster-span", SPANS, SPANS[0]);
span.addEventListener("change", () => {
  remember("cluster-span", span.value);
  load();
});
part("actions-more").addEventListener("click", () => {
  all = true;
  showActions();
});
part("size-open").addEventListener("click", resize);
onZone(again);
onTheme(() => {
  chart.retheme();
  again();
});
const load = poll(
  () => getJson(apiUrl(`${path}?span_ms=${span.value}`)),
  (answer) => {
    take(answer);
    show();
  },
);
