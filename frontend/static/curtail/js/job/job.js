/** The job page: wires the feed, the scene and what is drawn from it. */

import { apiUrl, getJson, socketUrl, toLogin } from "../core/api.js";
import { Chart, loadPlotly } from "../chart/chart.js";
import { Compare } from "./compare.js";
import { wireControls } from "./controls.js";
import { wireCopyButtons } from "../core/copy.js";
import { part, setText } from "../core/dom.js";
import { csvUrl, fileName, pictureOf, savePng } from "./download.js";
import { showFacts } from "./facts.js";
import { Feed } from "./feed.js";
import { healthLine, Lateness } from "./health.js";
import { Incidents } from "./incidents.js";
import { Numbers } from "./numbers.js";
import { pace } from "../chart/pace.js";
import { PoolSection } from "./poolsection.js";
import { readings } from "../chart/readout.js";
import { recall } from "../core/remember.js";
import { latencyColumn } from "../chart/ring.js";
import { RETENTION_MS, Scene } from "../chart/scene.js";
import { NOT_LOGGED_IN } from "../core/socket.js";
import { windowNear } from "./stats.js";
import { Holes, stepsLine } from "./steps.js";
import { pageStatus, SILENT_AFTER_MS } from "./status.js";
import { SloLine } from "../slo/line.js";
import { Techniques } from "../technique/techniques.js";
import { onTheme } from "../core/theme.js";
import { dayTime, windowTime, zoneName } from "../core/times.js";
import { format, parse } from "./urlstate.js";
import { SPANS_MS } from "../chart/view.js";
import { chosenZone, onZone } from "../core/zone.js";

const JOB_EVERY_MS = 10_000;
// Incidents and techniques are loaded after this time even if no chart could be drawn.
const GO_ON_AFTER_MS = 3000;
// A click on a number or an incident shows its windows with this much on either side.
const AROUND_MS = 2500;

const id = part("job").dataset.job;
const opening = part("opening").dataset; // what the browser is fetching already
const jobPath = `jobs/${encodeURIComponent(id)}`;
const chartRoot = part("chart");
const asked = parse(location.search);
const look = {
  scale: asked.scale ?? recall("scale", ["log", "linear"], "log"),
  which: asked.which ?? "processed",
  hidden: new Set(asked.hidden), // series switched off in the headings
};
let job = null;
let sure = true; // whether the server can be reached, so that the job's state is known
let gone = false; // the server says that it knows no such job
let Plotly = null; // a promise of it, once the chart has been drawn
let wentOn = false;
let dirty = true;
let wanted = asked.range; // what the address asks for, until the first windows are here

const touch = () => (dirty = true);
const fetchWindows = async (startMs, endMs) => {
  const range = `start_ms=${Math.floor(startMs)}&end_ms=${Math.floor(endMs)}`;
  const [windows, { items }] = await Promise.all([
    getJson(apiUrl(`${jobPath}/windows?${range}`)),
    getJson(apiUrl(`${jobPath}/activities?${range}`)),
  ]);
  return { ...windows, activities: items };
};
const spanMs = [asked.spanMs, Number(recall("span", SPANS_MS.map(String), "300000"))].find((ms) => SPANS_MS.includes(ms));
const fetchSteps = (startMs, endMs) => getJson(apiUrl(`${jobPath}/history?start_ms=${Math.floor(startMs)}&end_ms=${Math.floor(endMs)}`));
const scene = new Scene(spanMs, {
  fetchWindows,
  fetchSteps,
  reachMs: Math.max(RETENTION_MS, Number(part("job").dataset.keptMs) || 0),
  nowMs: () => feed.serverNowMs(),
  onChange: changed,
});
const feed = new Feed({
  socketUrl: socketUrl(jobPath),
  fetchWindows,
  firstRange: [Number(opening.startMs), Number(opening.endMs)],
  aheadMs: Number(opening.nowMs) - answeredMs(),
  lastMs: () => scene.ring.lastMs,
  onWindows: take,
  onCards: (items) => techniques.receive(items),
  onRefused: (code) => (code === NOT_LOGGED_IN ? toLogin() : lose()),
});
const chart = new Chart(chartRoot, { canvas: part("lines"), plot: part("plot"), heads: part("heads"), cursor: part("cursor") }, {
  hidden: look.hidden,
  onRange: (range) => scene.pause(range),
  onFollow: () => scene.follow(),
  onCursor: showCursor,
  onSize: touch,
  onToggle: changed,
});
const holes = new Holes(part("holes"));
const lateness = new Lateness();
const numbers = new Numbers(part("stats"), part("stats-caption"), ([startMs, endMs]) =>
  scene.pause([startMs - AROUND_MS, endMs + AROUND_MS]),
);
const pools = new PoolSection(part("pools"), part("pools-list"), part("pools-title"), part("pools-caption"), ([startMs, endMs]) =>
  scene.pause([startMs - AROUND_MS, endMs + AROUND_MS]),
);
const nowMs = () => feed.serverNowMs();
const compare = new Compare({ jobPath, zone: chosenZone, onChange: changed });
const techniques = new Techniques({ jobPath, nowMs, zone: chosenZone });
const slo = new SloLine({ jobPath, onObjective: changed, onSaved: loadJob });
const incidents = new Incidents({
  jobPath,
  nowMs,
  zone: chosenZone,
  onShow: ({ onset_ms, end_ms }) => {
    const endMs = end_ms ?? Math.min(nowMs(), onset_ms + 30_000);
    const around = Math.max(AROUND_MS, (endMs - onset_ms) / 2);
    scene.pause([onset_ms - around, endMs + around]);
  },
  onOpen: changed,
});

function take(batch, skip) {
  scene.take(batch, skip);
  if (batch.asked !== undefined) techniques.hear(batch.asked);
  if (wanted && skip) {
    const range = wanted;
    wanted = null;
    scene.pause(range);
  }
  if (batch.committed?.count.some((records) => records > 0)) part("which-choice").hidden = false;
  // A batch that refills the ring, or has no windows, says nothing about the present state.
  if (batch.t.length > 0 && batch.t.at(-1) === scene.ring.lastMs) {
    if (batch.latency.source !== "none") part("batch-level").hidden = batch.latency.source !== "batch";
    showHealth(batch.collector);
  }
  chartRoot.dataset.points = scene.ring.size;
  chartRoot.dataset.lastWindowMs = scene.ring.lastMs ?? "";
  // Paused, only a refill can change what is in sight.
  if (scene.paused && !skip) return;
  touch();
  tick();
}

function showHealth(collector) {
  const known = Object.entries(collector).filter(([, value]) => value !== null);
  const line = healthLine({ ...job?.collector, ...Object.fromEntries(known) }, job?.failure);
  part("health").hidden = !line;
  part("health").classList.toggle("warn", lateness.told(collector.late, performance.now()));
  setText(part("health"), line);
}

/** Called when the view has changed: updates the address and redraws everything. */
function changed() {
  const range = scene.paused ? scene.range : wanted;
  const state = { range, spanMs: scene.view.spanMs, ...look, compare: compare.ranges, incident: incidents.open };
  history.replaceState(null, "", format(state));
  compare.show(look.which, chart.Plotly, chart.colours);
  controls.show(scene, look);
  touch();
  tick();
}

function showStatus() {
  const downForMs = feed.downSinceMs === null ? 0 : Date.now() - feed.downSinceMs;
  const status = pageStatus({
    connection: feed.connection,
    downForMs,
    paused: scene.paused,
    jobState: job?.state,
    lastMs: scene.ring.lastMs,
    nowMs: nowMs(),
  });
  chartRoot.dataset.state = status.state;
  part("status").dataset.tone = status.tone;
  setText(part("status-word"), status.word);
  setText(part("status-detail"), status.detail);
  if (sure !== (feed.connection !== "reconnecting")) {
    sure = !sure;
    showJob();
  }
  return status;
}

function showJob() {
  if (job) showFacts(part("facts"), job, chosenZone(), sure);
}

function showNumbers(state) {
  const { ring, range } = scene.shown;
  if (ring.lastMs === null) {
    numbers.clear();
    return;
  }
  // Live, windows are a moment behind the clock; ten seconds end with the newest of them.
  const newestMs = ring.lastMs + ring.windowMs;
  const endMs = scene.paused ? Math.min(range[1], newestMs) : newestMs;
  const current = state === "live" || state === "behind";
  numbers.update(ring, look.which, range[0], endMs, current, chosenZone());
  pools.update(ring, endMs, current, chosenZone());
}

function showCursor(atMs, reachMs, series) {
  const { ring } = scene.shown;
  const number = atMs === null ? null : windowNear(ring, atMs, reachMs, latencyColumn(look.which, "p999"));
  const windowMs = number === null ? Math.floor(atMs) : number * ring.windowMs;
  const timeOf = ring.stepped ? dayTime : windowTime;
  setText(part("cursor-time"), atMs === null ? "" : `${timeOf(windowMs, chosenZone())} ${zoneName(windowMs, chosenZone())}`);
  return atMs === null ? new Map() : readings(series, number, atMs, reachMs);
}

function picture() {
  const shown = scene.shown;
  const fetching = !scene.past && shown.range[0] < feed.sinceMs;
  return { ...shown, ...look, objective: slo.objective, zone: chosenZone(), state: fetching ? "loading" : shown.state };
}

async function draw() {
  dirty = false;
  const shown = picture();
  const tookMs = await chart.draw(shown);
  incidents.mark(chart, shown.range);
  controls.bands(chart, shown.range, compare.ranges);
  holes.show(chart, shown.range, shown.missing ?? []);
  const line = stepsLine(shown, chosenZone());
  part("steps").hidden = !line;
  setText(part("steps"), line);
  part("csv").href = csvUrl(jobPath, shown.range);
  chartRoot.dataset.drawnWindowMs = shown.ring.lastMs;
  chartRoot.dataset.lines = chart.lines;
  chartRoot.dataset.drawMs = tookMs.toFixed(1);
  chartRoot.dataset.drawn = Number(chartRoot.dataset.drawn) + 1;
  chartRoot.toggleAttribute("data-zoomable", chart.listening);
  chartRoot.dataset.stepMs = shown.ring.windowMs;
  chartRoot.dataset.inView = scene.past && shown.state === "there" ? shown.ring.heldIn(...shown.range) : "";
  const nothing = scene.past ? "No data in this range" : "No windows yet";
  const note = { loading: "Loading windows…", failed: "These windows could not be loaded. Trying again.", there: shown.ring.size ? "" : nothing }[shown.state];
  part("chart-note").hidden = !note;
  setText(part("chart-note"), note);
  plotly();
  goOn();
  return tookMs;
}

function tick() {
  if (document.hidden || gone) return;
  const { state } = showStatus();
  showNumbers(state);
  const lastMs = scene.ring.lastMs;
  const moving = !scene.paused && lastMs !== null && nowMs() - lastMs < scene.view.spanMs / 2;
  if (feed.loaded && !chart.busy && (dirty || moving)) redraw(dirty);
}

async function loadJob() {
  try {
    job = await getJson(apiUrl(jobPath));
    slo.update(job);
    showJob();
    // Frames reach the server but not us: the connection is dead, though no one has closed it.
    const lastMs = scene.ring.lastMs;
    if (lastMs !== null && job.last_seen_ms - lastMs > 2 * SILENT_AFTER_MS) feed.reconnect();
  } catch (error) {
    if (error.status === 404) lose();
    else if (error.status === 0) feed.reconnect();
  }
}

function lose() {
  gone = true;
  feed.stop();
  numbers.clear();
  chartRoot.dataset.state = "stale";
  part("status").dataset.tone = "warn";
  setText(part("status-word"), "Unknown job");
  setText(part("status-detail"), "");
  part("trouble").hidden = false;
  setText(part("trouble"), `The server has no job “${id}” any more. What is drawn here is the last that it sent.`);
}

/** Plotly, which is only fetched when the chart has been painted without it. */
function plotly() {
  if (Plotly) return Plotly;
  Plotly = loadPlotly(part("job").dataset.plotly).then(
    (loaded) => {
      chart.Plotly = loaded;
      changed();
      return loaded;
    },
    (error) => {
      setText(part("chart-caption"), "Zooming with the mouse, the curves of a comparison and PNG could not be loaded: reload the page to try again. Keys work; press ? for them.");
      throw error;
    },
  );
  // Callers handle the rejection themselves; this only avoids "unhandled rejection" in the console.
  Plotly.catch(() => {});
  return Plotly;
}

/** Starts what can wait for the chart, so that the server answers the first windows alone. */
function goOn() {
  if (wentOn || gone) return;
  wentOn = true;
  incidents.poll();
  techniques.poll();
}

/** When the server answered with this page, by this browser's clock. */
function answeredMs() {
  return performance.timeOrigin + performance.getEntriesByType("navigation")[0].responseStart;
}

const [beat, redraw] = pace(tick, draw);
const controls = wireControls({
  scene,
  look,
  compare,
  incidents,
  changed,
  savePng: async () => {
    const { range } = scene;
    const about = { job: id, range, zone: chosenZone(), colours: chart.colours, hidden: look.hidden, incidents: incidents.items };
    const made = pictureOf(chart.compose(picture()), about);
    return savePng(await plotly(), made, fileName(id, range, "png"));
  },
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  feed.refill();
  touch();
  tick();
});
onZone(() => {
  showJob();
  compare.fill();
  incidents.render();
  techniques.render();
  changed();
});
onTheme(() => {
  chart.retheme();
  changed();
});
wireCopyButtons();
setInterval(() => document.hidden || gone || loadJob(), JOB_EVERY_MS);
incidents.open = asked.incident;
compare.ranges = asked.compare;
compare.fill();
feed.start();
loadJob();
changed();
beat();
setTimeout(goOn, GO_ON_AFTER_MS);
