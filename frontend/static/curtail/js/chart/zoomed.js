/** The job page's panels at the time of one occurrence, with the occurrences as bands over them. */

import { apiUrl, getJson } from "../core/api.js";
import { Chart, loadPlotly } from "./chart.js";
import { element, part, setText } from "../core/dom.js";
import { wireKeys } from "../job/keys.js";
import { readings } from "./readout.js";
import { latencyColumn } from "./ring.js";
import { RETENTION_MS, Scene } from "./scene.js";
import { windowNear } from "../job/stats.js";
import { onTheme } from "../core/theme.js";
import { windowTime, zoneName } from "../core/times.js";
import { chosenZone, onZone } from "../core/zone.js";

const WHICH = "processed";
// Some calm before it, and after it what a record that waited shows only when it completes.
const BEFORE_MS = 2000;
const AFTER_MS = 3500;
// Two minutes are fetched at once: what a detector saw, and quickly there.
const BLOCK_MS = 120_000;
const SPAN_MS = 60_000;
const PAN = 0.25;
// Of a time that far back more can be panned to; the scene reaches an hour back from there.
const REACH_MS = RETENTION_MS / 2;

const NOTES = { loading: "Loading windows…", failed: "These windows could not be loaded. Trying again." };
const NOT_RECEIVED = "No windows of this time were received.";

export class Zoomed {
  #chart = null;
  #drawn = "";
  #waiting = false;
  #fetchedMs = 0;
  #bands = [];
  #Plotly = null; // a promise of it, once the chart has been drawn

  /**
   * `onMove` is told when the user zooms or pans: then the view is theirs. `onDraw` is told what was
   * drawn.
   */
  constructor({ jobPath, onMove, onDraw }) {
    this.jobPath = jobPath;
    this.onMove = onMove;
    this.onDraw = onDraw;
    this.spans = [];
    this.chosen = null; // [startMs, endMs]
    this.panels = [];
    this.hidden = new Set();
    this.root = part("chart");
    this.scene = new Scene(SPAN_MS, {
      fetchWindows: (startMs, endMs) => this.#fetch(startMs, endMs),
      // The browser's clock may be behind: what was found is never in the future.
      nowMs: () => Math.min(Math.max(Date.now(), this.#latestMs() + AFTER_MS), this.#latestMs() + REACH_MS),
      onChange: () => this.touch(),
      blockMs: BLOCK_MS,
    });
    const parts = { canvas: part("lines"), plot: part("plot"), heads: part("heads"), cursor: part("cursor") };
    this.#chart = new Chart(this.root, parts, {
      hidden: this.hidden,
      onRange: (range) => this.#move((scene) => scene.pause(range)),
      onFollow: () => this.back(),
      onCursor: (...at) => this.#read(...at),
      onSize: () => this.touch(true),
      onToggle: () => this.touch(true),
    });
    wireKeys({
      "+": () => this.#move((scene) => scene.zoom(0.5)),
      "=": () => this.#move((scene) => scene.zoom(0.5)),
      "-": () => this.#move((scene) => scene.zoom(2)),
      ArrowLeft: () => this.#move((scene) => scene.pan(-PAN)),
      ArrowRight: () => this.#move((scene) => scene.pan(PAN)),
      Home: () => this.back(),
    });
    onZone(() => this.touch(true));
    onTheme(() => {
      this.#chart.retheme();
      this.touch(true);
    });
  }

  get range() {
    return this.scene.range;
  }

  /** Moves the panels to an occurrence. */
  show(chosen) {
    const same = this.chosen?.[0] === chosen[0] && this.chosen?.[1] === chosen[1];
    this.chosen = chosen;
    if (!same) this.back();
  }

  /** Moves back to the whole occurrence after the user has zoomed. */
  back() {
    if (this.chosen) this.scene.pause(around(this.chosen));
  }

  /** Fetches again if the range in view had not ended at the last fetch. */
  refresh() {
    const [, endMs] = this.range;
    if (this.chosen && this.#fetchedMs && endMs > this.#fetchedMs - 1000 && Date.now() > this.#fetchedMs + 1000) this.scene.reload();
  }

  touch(anew = false) {
    if (anew) this.#drawn = "";
    if (!this.chosen || this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#draw();
    });
  }

  #move(how) {
    if (!this.chosen) return;
    how(this.scene);
    this.onMove();
  }

  async #draw() {
    if (this.#chart.busy) {
      setTimeout(() => this.touch(), 50);
      return;
    }
    const shown = this.scene.shown;
    const here = JSON.stringify([shown.range, this.panels.map(({ id }) => id)]);
    // Keep what is drawn until there is more.
    if (shown.state === "loading" && this.#drawn === here) return;
    const empty = shown.state === "there" && !shown.ring.heldIn(...shown.range);
    const gone = empty && shown.range[0] <= this.chosen[0] && this.chosen[0] <= shown.range[1];
    part("gone").hidden = !gone;
    part("zoomed").hidden = gone;
    if (gone) {
      this.#drawn = "";
      setText(part("gone"), whyGone(shown.range[1]));
      return;
    }
    const note = empty ? NOT_RECEIVED : (NOTES[shown.state] ?? "");
    part("chart-note").hidden = !note;
    setText(part("chart-note"), note);
    await this.#chart.draw({ ...shown, scale: "log", which: WHICH, hidden: this.hidden, panels: this.panels, zone: chosenZone() });
    this.#mark(shown.range);
    this.onDraw(shown);
    if (shown.state !== "there") return;
    this.#drawn = here;
    this.root.dataset.drawn = Number(this.root.dataset.drawn) + 1;
    this.root.dataset.range = shown.range.map(Math.round).join("-");
    this.root.dataset.lines = this.#chart.lines;
    this.root.toggleAttribute("data-zoomable", this.#chart.listening);
    this.#fetchPlotly();
  }

  /** Loads Plotly once the chart is drawn without it: it only adds the mouse; keys work before. */
  #fetchPlotly() {
    this.#Plotly ??= loadPlotly(part("incident").dataset.plotly).then(
      (Plotly) => {
        this.#chart.Plotly = Plotly;
        this.touch(true);
      },
      () => setText(part("chart-caption"), "Zooming with the mouse could not be loaded: reload the page to try again. Keys work."),
    );
  }

  #mark([startMs, endMs]) {
    const seen = this.spans.filter(([from, to]) => to > startMs && from < endMs);
    while (this.#bands.length < seen.length) {
      const band = element("div", { class: "band occurrence" });
      part("bands").append(band);
      this.#bands.push(band);
    }
    for (const band of this.#bands.splice(seen.length)) band.remove();
    seen.forEach(([from, to], i) => {
      const left = this.#chart.placeOf(Math.max(from, startMs));
      const band = this.#bands[i];
      band.style.transform = `translateX(${left}px)`;
      band.style.width = `${Math.max(2, this.#chart.placeOf(Math.min(to, endMs)) - left)}px`;
      band.toggleAttribute("data-chosen", from === this.chosen[0]);
    });
  }

  #read(atMs, reachMs, series) {
    const { ring } = this.scene.shown;
    const number = atMs === null ? null : windowNear(ring, atMs, reachMs, latencyColumn(WHICH, "p999"));
    const windowMs = number === null ? Math.floor(atMs) : number * ring.windowMs;
    setText(part("cursor-time"), atMs === null ? "" : `${windowTime(windowMs, chosenZone())} ${zoneName(windowMs, chosenZone())}`);
    return atMs === null ? new Map() : readings(series, number, atMs, reachMs);
  }

  #latestMs() {
    return this.spans.at(-1)?.[1] ?? Date.now();
  }

  async #fetch(startMs, endMs) {
    const range = `start_ms=${Math.floor(startMs)}&end_ms=${Math.floor(endMs)}`;
    const [windows, { items }] = await Promise.all([
      getJson(apiUrl(`${this.jobPath}/windows?${range}`)),
      getJson(apiUrl(`${this.jobPath}/activities?${range}`)),
    ]);
    this.#fetchedMs = Date.now();
    return { ...windows, activities: items };
  }
}

/** The range to show: a short occurrence with its surroundings, a long one with a small margin. */
export function around([startMs, endMs]) {
  const half = (endMs - startMs) / 2;
  const side = (leastMs) => (half > SPAN_MS / 2 ? half / 10 : Math.max(leastMs, half));
  return [startMs - side(BEFORE_MS), endMs + side(AFTER_MS)];
}

function whyGone(endMs) {
  return Date.now() - endMs > RETENTION_MS
    ? "The 50 ms windows of this time are no longer kept. What the detector wrote down is below."
    : NOT_RECEIVED;
}
