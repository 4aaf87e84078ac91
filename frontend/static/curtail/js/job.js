/** The job page: wires the feed, the ring, the view and what is drawn from them. */

import { apiUrl, getJson, socketUrl, toLogin } from "./api.js";
import { Chart, plotlyLoaded } from "./chart.js";
import { choice } from "./choice.js";
import { wireCopyButtons } from "./copy.js";
import { part, setText } from "./dom.js";
import { showFacts } from "./facts.js";
import { Feed, historyRange } from "./feed.js";
import { PERCENTILE_NAMES } from "./figure.js";
import { duration, percent, text } from "./format.js";
import { healthLine } from "./health.js";
import { keepOnly, placeOf } from "./hosts.js";
import { Intervals } from "./intervals.js";
import { Legend } from "./legend.js";
import { Numbers } from "./numbers.js";
import { recall, remember } from "./remember.js";
import { PERCENTILES, WindowRing } from "./ring.js";
import { NOT_LOGGED_IN } from "./socket.js";
import { windowNear } from "./stats.js";
import { pageStatus, SILENT_AFTER_MS } from "./status.js";
import { onTheme } from "./theme.js";
import { windowTime } from "./times.js";
import { SPANS_MS, View } from "./view.js";
import { chosenZone, onZone } from "./zone.js";

const TICK_MS = 250; // at most four redraws a second
const JOB_EVERY_MS = 10_000;
// A click on a number shows its window with this much on either side.
const AROUND_MS = 2500;
const SHORTEST_ZOOM_MS = 500;

const id = part("job").dataset.job;
const jobPath = `jobs/${encodeURIComponent(id)}`;
const chartRoot = part("chart");
const ring = new WindowRing();
const intervals = new Intervals();
const hidden = new Set(); // series switched off in the legends
const spanValues = SPANS_MS.map(String);
const view = new View(Number(recall("span", spanValues, "300000")));
let scale = recall("scale", ["log", "linear"], "log");
let still = null; // the windows as they were when the user paused
let job = null;
let sure = true; // whether the server can be reached, so that the job's state is known
let gone = false; // the server says that it knows no such job
let chart = null;
let dirty = true;
let restUntilMs = 0;

const shown = () => still ?? ring;
const touch = () => (dirty = true);

const latencyLegend = new Legend(part("latency-legend"), hidden, touch);
const hostLegend = new Legend(part("host-legend"), hidden, touch);
latencyLegend.show(PERCENTILES.map((key) => ({ key, name: PERCENTILE_NAMES[key], swatch: key })));
const numbers = new Numbers(part("stats"), part("stats-caption"), ([startMs, endMs]) =>
  pause([startMs - AROUND_MS, endMs + AROUND_MS]),
);

const feed = new Feed({
  socketUrl: socketUrl(jobPath),
  fetchWindows: async (startMs, endMs) => {
    const range = `start_ms=${Math.floor(startMs)}&end_ms=${Math.floor(endMs)}`;
    const [windows, { items }] = await Promise.all([
      getJson(apiUrl(`${jobPath}/windows?${range}`)),
      getJson(apiUrl(`${jobPath}/activities?${range}`)),
    ]);
    return { ...windows, activities: items };
  },
  firstRange: (nowMs) => historyRange(nowMs, job?.last_seen_ms ?? null),
  lastMs: () => ring.lastMs,
  onWindows: take,
  onRefused: (code) => (code === NOT_LOGGED_IN ? toLogin() : lose()),
});

function take(batch, skip) {
  ring.put(batch, skip);
  intervals.put(batch.activities);
  still?.put(batch, skip);
  if (batch.latency.source !== "none") part("batch-level").hidden = batch.latency.source !== "batch";
  const health = healthLine(batch.collector);
  part("health").hidden = !health;
  setText(part("health"), health);
  chartRoot.dataset.points = ring.size;
  chartRoot.dataset.lastWindowMs = ring.lastMs ?? "";
  // Paused, only a refill can change what is in sight.
  if (!view.paused || skip) touch();
}

function follow() {
  view.follow();
  still = null;
  touch();
  tick();
}

function pause(range = view.range(feed.serverNowMs(), ring.lastMs)) {
  still ??= ring.freeze();
  view.pause(range);
  touch();
  tick();
}

function showStatus(nowMs) {
  const downForMs = feed.downSinceMs === null ? 0 : Date.now() - feed.downSinceMs;
  const status = pageStatus({
    connection: feed.connection,
    downForMs,
    paused: view.paused,
    jobState: job?.state,
    lastMs: ring.lastMs,
    nowMs,
  });
  chartRoot.dataset.state = status.state;
  part("status").dataset.tone = status.tone;
  setText(part("status-word"), status.word);
  setText(part("status-detail"), status.detail);
  if (sure !== (feed.connection !== "reconnecting")) {
    sure = !sure;
    showJob();
  }
  part("follow").setAttribute("aria-pressed", String(!view.paused));
  part("pause").setAttribute("aria-pressed", String(view.paused));
  return status;
}

function showJob() {
  if (job) showFacts(part("facts"), job, chosenZone(), sure);
}

function showNumbers(state, nowMs) {
  const source = shown();
  if (source.lastMs === null) {
    numbers.clear();
    return;
  }
  // Live, windows are a moment behind the clock; ten seconds end with the newest of them.
  const newestMs = source.lastMs + source.windowMs;
  const endMs = view.paused ? Math.min(view.range(nowMs, null)[1], newestMs) : newestMs;
  numbers.update(source, endMs, state === "live" || state === "behind", chosenZone());
}

function showCursor(atMs, reachMs) {
  const source = shown();
  const number = atMs === null ? null : windowNear(source, atMs, reachMs);
  const latencies = new Map();
  const hosts = new Map();
  if (number !== null) {
    for (const key of PERCENTILES) latencies.set(key, text(duration(source.value(key, number))));
    for (const host of source.names("cpu")) hosts.set(host, text(percent(source.of("cpu", host, number))));
  }
  const time = atMs === null ? "" : windowTime(number === null ? Math.floor(atMs) : number * source.windowMs, chosenZone());
  latencyLegend.read(time, latencies);
  hostLegend.read("", hosts);
}

async function draw(nowMs) {
  dirty = false;
  const source = shown();
  const hosts = source.names("cpu");
  keepOnly(hosts);
  hostLegend.show(
    hosts.map((host) => {
      const { colour, dash } = placeOf(host);
      return { key: host, name: host, swatch: `host-${colour + 1}`, dash };
    }),
  );
  const range = view.range(nowMs, source.lastMs);
  const tookMs = await chart.draw({ ring: source, intervals, range, scale, zone: chosenZone(), hidden });
  // A slow machine gets to do other things for two thirds of the time.
  restUntilMs = performance.now() + 2 * tookMs;
  chartRoot.dataset.drawn = Number(chartRoot.dataset.drawn) + 1;
  chartRoot.dataset.drawMs = tookMs.toFixed(1);
  part("chart-note").hidden = source.size > 0;
  setText(part("chart-note"), source.size > 0 ? "" : "No windows yet");
}

function tick() {
  if (document.hidden || gone) return;
  const nowMs = feed.serverNowMs();
  const { state } = showStatus(nowMs);
  showNumbers(state, nowMs);
  const moving = !view.paused && ring.lastMs !== null && nowMs - ring.lastMs < view.spanMs / 2;
  if (!chart || !feed.loaded || chart.busy || performance.now() < restUntilMs) return;
  if (dirty || moving) draw(nowMs);
}

async function loadJob() {
  try {
    job = await getJson(apiUrl(jobPath));
    showJob();
    // Frames reach the server but not us: the connection is dead, though no one has closed it.
    if (ring.lastMs !== null && job.last_seen_ms - ring.lastMs > 2 * SILENT_AFTER_MS) feed.reconnect();
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

function wireControls() {
  part("follow").addEventListener("click", follow);
  part("pause").addEventListener("click", () => pause());
  const span = part("span");
  span.value = String(view.spanMs);
  span.addEventListener("change", () => {
    view.setSpan(Number(span.value));
    remember("span", span.value);
    touch();
  });
  choice(part("scale-choice"), scale, (chosen) => {
    scale = chosen;
    remember("scale", chosen);
    touch();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey) return;
    // On a button the space bar presses that button.
    if (event.target.closest("input, select, textarea, button, a")) return;
    event.preventDefault();
    if (view.paused) follow();
    else pause();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    feed.refill();
    touch();
    tick();
  });
  onZone(() => {
    showJob();
    touch();
  });
  onTheme(() => {
    chart?.retheme();
    touch();
  });
}

async function loadChart() {
  try {
    const Plotly = await plotlyLoaded(part("plotly"));
    chart = new Chart(chartRoot, part("cursor"), Plotly, {
      onRange: ([startMs, endMs]) => {
        const short = Math.max(0, SHORTEST_ZOOM_MS - (endMs - startMs)) / 2;
        pause([startMs - short, endMs + short]);
      },
      onFollow: follow,
      onCursor: showCursor,
      onSize: touch,
    });
    setText(part("chart-note"), "Loading windows…");
    tick();
  } catch {
    setText(part("chart-note"), "The chart could not be loaded. The numbers above are live; reload the page to try again.");
  }
}

wireControls();
wireCopyButtons();
loadChart();
setInterval(tick, TICK_MS);
setInterval(() => document.hidden || gone || loadJob(), JOB_EVERY_MS);
// The first fetch asks for the job's last 15 minutes, which may be long ago: so know the job first.
await loadJob();
if (!gone) feed.start();
