/** The row of current numbers. A click on one shows the windows it came from. */

import { element, setText } from "../core/dom.js";
import { count, duration, NOTHING, percent } from "../core/format.js";
import { PERCENTILE_NAMES } from "../chart/panels.js";
import { latencyColumn } from "../chart/ring.js";
import { busiestHost, rowRate, worst } from "./stats.js";
import { stepName } from "./steps.js";
import { clockTime } from "../core/times.js";

export const NUMBERS_MS = 10_000;
const LATENCIES = ["p50", "p99", "p999"];

export class Numbers {
  #cells = new Map();

  constructor(root, caption, onShow) {
    this.root = root;
    this.caption = caption;
    for (const name of LATENCIES) this.#add(name, PERCENTILE_NAMES[name], onShow);
    this.#add("rows", "rows in", onShow);
    this.#add("cpu", "CPU", onShow);
  }

  /** Over the ten seconds before `endMs`; `current` says whether that is now. In a far view, over
   * all of it, which begins with `viewMs`. */
  update(ring, which, viewMs, endMs, current, zone) {
    const startMs = ring.stepped ? viewMs : endMs - NUMBERS_MS;
    const lengthMs = ring.stepped ? ring.windowMs : 0;
    for (const name of LATENCIES) {
      const found = worst(ring, latencyColumn(which, name), startMs, endMs);
      this.#write(name, duration(found?.value ?? null), "", found && [found.atMs, found.atMs + lengthMs]);
    }
    const rate = rowRate(ring, startMs, endMs);
    const rows = count(rate);
    this.#write("rows", { value: rows.value, unit: `${rows.unit} rows/s`.trim() }, "", rate !== null && [startMs, endMs]);
    const busiest = busiestHost(ring, startMs, endMs);
    this.#write("cpu", percent(busiest?.value ?? null), busiest?.host ?? "", busiest && [startMs, endMs]);
    this.root.classList.toggle("past", !current);
    if (ring.stepped) {
      setText(this.caption, `Latency, ${which}: worst ${stepName(ring.windowMs)} step in view. Rows: mean over the view; CPU: mean of the steps' highest, of the busiest host.`);
      return;
    }
    const when = current ? "the last 10 s" : `the 10 s before ${clockTime(endMs, zone)}`;
    setText(this.caption, `Latency, ${which}: worst 50 ms window of ${when}. Rows and CPU: mean over the same 10 s; CPU of the busiest host.`);
  }

  clear() {
    for (const name of this.#cells.keys()) this.#write(name, { value: NOTHING, unit: "" }, "", null);
    setText(this.caption, "");
  }

  #add(name, label, onShow) {
    const value = element("span", { class: "value" }, NOTHING);
    const unit = element("span", { class: "unit" });
    const button = element("button", { type: "button", class: "number", disabled: true }, value, unit);
    const of = element("span", { class: "of" });
    const cell = { value, unit, of, button, range: null };
    button.addEventListener("click", () => onShow(cell.range));
    this.#cells.set(name, cell);
    const term = element("dt", {}, label, of);
    this.root.append(element("div", { class: `stat stat-${name}` }, term, element("dd", {}, button)));
  }

  #write(name, { value, unit }, of, range) {
    const cell = this.#cells.get(name);
    setText(cell.value, value);
    setText(cell.unit, value === NOTHING ? "" : unit);
    setText(cell.of, of);
    cell.of.title = of;
    cell.range = range || null;
    cell.button.disabled = !range;
    cell.button.title = range ? "Show the windows this came from" : "";
  }
}
