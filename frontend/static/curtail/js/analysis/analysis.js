/** One analysis: how far it is, then its report. */

import { apiUrl, getJson } from "../core/api.js";
import { loadPlotly } from "../chart/chart.js";
import { clock } from "../core/clock.js";
import { part, setText } from "../core/dom.js";
import { palette } from "../core/palette.js";
import { onTheme } from "../core/theme.js";
import { dateTime, dayTime, zoneName } from "../core/times.js";
import { tried } from "../core/trouble.js";
import { chosenZone, onZone } from "../core/zone.js";
import { kindName } from "../incident/kinds.js";
import { addedFigure, changesFigure, recurrenceFigure, togetherFigure } from "./figures.js";
import { changeHead, effectRow, jobRow, pairRow, recurrenceWords } from "./rows.js";

const AGAIN_MS = 1000;
const CONFIG = { displayModeBar: false, responsive: false };
const MOST_ADDED = 15;

const main = part("analysis");
let analysis = null;
let Plotly = null;

async function load() {
  const answer = await tried(null, () => getJson(apiUrl(`analyses/${main.dataset.analysis}`)));
  if (answer) {
    analysis = answer;
    show();
  }
  if (!answer || ["waiting", "running"].includes(answer.state)) clock.after(AGAIN_MS, load);
}

function show() {
  const zone = chosenZone();
  const { state, done, total, report } = analysis;
  setText(part("title"), `${dateTime(analysis.start_ms, zone)} – ${dateTime(analysis.end_ms, zone)} ${zoneName(analysis.end_ms, zone)}`);
  setText(part("standing"), standing(analysis));
  const bar = part("progress");
  bar.hidden = !["waiting", "running"].includes(state);
  if (total) bar.value = done / total;
  part("report").hidden = report === null;
  main.dataset.view = state;
  if (report) draw(report, zone);
}

function standing({ state, done, total, asked_by: who, because }) {
  if (state === "failed") return `It failed: ${because}`;
  if (state === "done") return `${total} jobs, asked by ${who}`;
  return total ? `${done} of ${total} jobs analysed` : "Waiting for Spark to start…";
}

function draw(report, zone) {
  const pairs = report.together.flatMap((group) => group.pairs.map((pair) => ({ ...pair, elsewhere: group.elsewhere })));
  const added = [...report.added].sort((a, b) => b.added_ms * b.records - a.added_ms * a.records).slice(0, MOST_ADDED);
  const { all } = report.recurrence;
  part("changes-none").hidden = report.changes.length > 0;
  part("together-none").hidden = pairs.length > 0;
  part("together-table").hidden = part("together-plot").hidden = pairs.length === 0;
  part("together-rows").replaceChildren(...pairs.map((pair, at) => pairRow(pair, at, zone)));
  setText(part("recurrence-words"), recurrenceWords(report.recurrence));
  part("recurrence").hidden = all.table.flat().every((count) => count === 0);
  part("added-none").hidden = added.length > 0;
  part("added").hidden = added.length === 0;
  part("effects").hidden = report.effects.length === 0;
  part("effects-rows").replaceChildren(...report.effects.map((effect) => effectRow(effect, zone)));
  const jobs = [...report.jobs].sort((a, b) => b.raised_s - a.raised_s);
  part("job-rows").replaceChildren(...jobs.map((job) => jobRow(job, report, zone)));
  pictures(report, pairs, added, zone);
}

async function pictures(report, pairs, added, zone) {
  Plotly ??= loadPlotly(main.dataset.plotly);
  const drawing = await tried(null, () => Plotly);
  if (!drawing) return;
  const colours = palette();
  const moment = (ms) => dayTime(ms, zone);
  const react = (plot, figure) => {
    const { data, layout } = figure(plot.clientWidth);
    return drawing.react(plot, data, layout, CONFIG);
  };
  changePictures(report, zone, (plot, job, changes) => react(plot, (width) => changesFigure(job, changes, colours, width, moment)));
  const range = [report.start_ms, report.end_ms];
  if (pairs.length) react(part("together-plot"), (width) => togetherFigure(pairs, range, colours, width, moment));
  if (!part("recurrence").hidden) react(part("recurrence"), (width) => recurrenceFigure(report.recurrence.all, colours, width));
  if (added.length) react(part("added"), (width) => addedFigure(added, colours, width, kindName));
  main.dataset.drawn = String(Number(main.dataset.drawn ?? 0) + 1);
}

function changePictures(report, zone, paint) {
  const jobs = report.jobs.filter(({ job }) => report.changes.some((change) => change.job === job));
  const made = jobs.map((job) => {
    const changes = report.changes.filter((change) => change.job === job.job);
    const figure = document.createElement("figure");
    const plot = document.createElement("div");
    plot.className = "figure";
    figure.append(...changes.map((change) => changeHead(change, zone)), plot);
    return { figure, plot, job, changes };
  });
  part("changes").replaceChildren(...made.map(({ figure }) => figure));
  for (const { plot, job, changes } of made) paint(plot, job, changes);
}

const again = () => analysis && show();
onZone(again);
onTheme(again);
let resized = null;
window.addEventListener("resize", () => {
  clock.cancel(resized);
  resized = clock.after(200, again);
});
load();
