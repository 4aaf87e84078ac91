/** Table 1 of the ShadowSync paper: what each stage flushed and compacted at each checkpoint. */

import { element } from "../core/dom.js";
import { windowTime, zoneName } from "../core/times.js";

/** `onShow([startMs, endMs])` brings a checkpoint into view. */
export function tableOne(rows, spans, zone, onShow) {
  const newestMs = Math.max(...rows.map(({ checkpoint_ms }) => checkpoint_ms));
  const head = (label, attributes = {}) => element("th", { scope: "col", ...attributes }, label);
  return element(
    "table",
    { class: "numbers table-one" },
    element(
      "thead",
      {},
      element("tr", {}, element("td", { colspan: "2" }), head("Flushes", { colspan: "3", scope: "colgroup", class: "of-flush" }), head("Compactions", { colspan: "3", scope: "colgroup", class: "of-compaction" })),
      element("tr", {}, ...["Stage", `Checkpoint (${zoneName(newestMs, zone)})`, "count", "mean ms", "MB", "count", "mean ms", "MB"].map((label) => head(label))),
    ),
    element("tbody", {}, ...rows.map((row) => tableRow(row, spans, zone, onShow))),
  );
}

function tableRow(row, spans, zone, onShow) {
  const atMs = row.checkpoint_ms;
  const within = spans.some(([startMs, endMs]) => atMs >= startMs && atMs <= endMs);
  const time = windowTime(atMs, zone).slice(0, -2);
  const button = element("button", { type: "button", class: "plain", title: "Show it in the panels" }, time);
  button.addEventListener("click", () => onShow([atMs, atMs + Math.max(row.flush_ms, row.compaction_ms, 1)]));
  const cells = ["flushes", "flush_ms", "flush_mb", "compactions", "compaction_ms", "compaction_mb"];
  return element(
    "tr",
    { "data-occurrence": within },
    element("td", {}, String(row.operator)),
    element("th", { scope: "row" }, button),
    ...cells.map((name) => element("td", { class: row[name] ? null : "nothing" }, shown(row, name))),
  );
}

function shown(row, name) {
  const of = name.startsWith("flush") ? "flushes" : "compactions";
  // Nothing was compacted: there is no mean of nothing.
  if (name !== of && !row[of]) return "–";
  if (name === of) return String(row[name]);
  return row[name].toFixed(row[name] >= 100 ? 0 : row[name] >= 10 || name.endsWith("_ms") ? 1 : 2);
}
