/** Two time ranges side by side: a table of percentiles and the two distributions. */

import { apiUrl, getJson } from "../core/api.js";
import { cdfFigure } from "../chart/cdf.js";
import { element, part, setText } from "../core/dom.js";
import { count, duration, text } from "../core/format.js";
import { fromField, toField } from "../core/times.js";

const ROWS = [["p50", "p50"], ["p90", "p90"], ["p95", "p95"], ["p99", "p99"], ["p999", "p99.9"], ["max", "highest"]];
const CONFIG = { displayModeBar: false, staticPlot: true };

export class Compare {
  #answers = null; // {a, b}, as the server gave them
  #asked = "";

  constructor({ jobPath, zone, onChange }) {
    this.jobPath = jobPath;
    this.zone = zone;
    this.onChange = onChange;
    this.ranges = null; // {a: [startMs, endMs], b: […]} while comparing
    this.root = part("compare");
    this.form = part("compare-form");
    part("compare-close").addEventListener("click", () => this.close());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#byHand();
    });
  }

  /** The range in view against the one just before it. */
  withBefore([startMs, endMs]) {
    this.set({ a: [startMs - (endMs - startMs), startMs], b: [startMs, endMs] });
  }

  set(ranges) {
    this.ranges = ranges;
    this.#answers = null;
    this.#asked = "";
    this.fill();
    this.onChange();
  }

  close() {
    this.ranges = null;
    this.onChange();
  }

  /** The fields, in the zone that is chosen now. */
  fill() {
    if (!this.ranges) return;
    for (const name of ["a", "b"]) {
      const [startMs, endMs] = this.ranges[name];
      this.form.elements[`${name}_from`].value = toField(startMs, this.zone());
      this.form.elements[`${name}_to`].value = toField(endMs, this.zone());
    }
  }

  /** Fetches the missing answers, and draws; `Plotly` is null until it has loaded. */
  async show(which, Plotly, colours) {
    this.root.hidden = !this.ranges;
    if (!this.ranges) return;
    const asked = JSON.stringify([this.ranges, which]);
    if (asked !== this.#asked) {
      this.#asked = asked;
      this.#answers = null;
      this.#say("Adding up the records of both ranges…");
      try {
        const [a, b] = await Promise.all(["a", "b"].map((name) => this.#fetch(this.ranges[name], which)));
        if (asked !== this.#asked) return;
        this.#answers = { a, b };
        this.#say(a.count && b.count ? "" : "In a range without records there is nothing to compare.");
      } catch (error) {
        if (asked === this.#asked) this.#say(error.status === 404 ? "This server does not offer distributions." : `${error.message}.`);
        return;
      }
    }
    if (!this.#answers) return;
    this.#table();
    const plot = part("cdf");
    plot.hidden = false;
    if (Plotly && colours) {
      const { data, layout } = cdfFigure(this.#answers, colours, plot.clientWidth, plot.clientHeight);
      await Plotly.react(plot, data, layout, CONFIG);
    }
  }

  #fetch([startMs, endMs], which) {
    const query = `start_ms=${Math.round(startMs)}&end_ms=${Math.round(endMs)}&which=${which}`;
    return getJson(apiUrl(`${this.jobPath}/distribution?${query}`));
  }

  #say(note) {
    setText(part("compare-note"), note);
    if (note) {
      part("compare-rows").replaceChildren();
      part("cdf").hidden = true;
    }
  }

  #table() {
    const { a, b } = this.#answers;
    const row = (label, first, second, ratio) =>
      element("tr", {}, element("th", { scope: "row" }, label), ...[first, second, ratio].map((value) => element("td", {}, value)));
    part("compare-rows").replaceChildren(
      ...ROWS.map(([name, label]) => row(label, text(duration(a[name])), text(duration(b[name])), ratio(a[name], b[name]))),
      row("records", text(count(a.count)), text(count(b.count)), ratio(a.count, b.count)),
    );
  }

  #byHand() {
    const read = (name) => fromField(this.form.elements[name].value, this.zone());
    const ranges = { a: [read("a_from"), read("a_to")], b: [read("b_from"), read("b_to")] };
    const wrong = Object.values(ranges).some(([startMs, endMs]) => startMs === null || endMs === null || startMs >= endMs);
    if (wrong) this.#say("Each range needs a beginning and a later end.");
    else this.set(ranges);
  }
}

/** B as a multiple of A: "×1.25" */
export function ratio(a, b) {
  return a > 0 && Number.isFinite(b) ? `×${(b / a).toPrecision(3)}` : "–";
}
