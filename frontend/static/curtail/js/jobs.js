/** The jobs page: a list that keeps itself up to date. */

import { apiUrl, getJson, socketUrl, toLogin } from "./api.js";
import { wireCopyButtons } from "./copy.js";
import { part, setText } from "./dom.js";
import { age } from "./format.js";
import { JobList } from "./joblist.js";
import { JobRow } from "./jobrow.js";
import { clockTime, zoneName } from "./times.js";
import { chosenZone, onZone } from "./zone.js";

// What needs a look comes first.
const ORDER = ["stale", "running", "stopped"];
const page = part("jobs");
const search = part("search");
const rows = new Map();
let jobs = null;
let aheadMs = 0; // the server's clock minus this browser's
let toldMs = null; // when the server last told us the list
let trouble = null; // {error, sinceMs}

function show() {
  const zone = chosenZone();
  const ids = new Set(jobs.map(({ id }) => id));
  for (const [id, row] of rows) {
    if (ids.has(id)) continue;
    row.node.remove();
    rows.delete(id);
  }
  for (const job of jobs) {
    if (!rows.has(job.id)) rows.set(job.id, new JobRow(job));
    rows.get(job.id).update(job, zone);
  }
  arrange();
  const stale = jobs.filter(({ state }) => state === "stale").length;
  const total = `${jobs.length} ${jobs.length === 1 ? "job" : "jobs"}`;
  setText(part("summary"), jobs.length ? (stale ? `${total}, ${stale} stale` : total) : "");
  const label = `Run started (${zoneName(Date.now(), zone)})`;
  setText(part("table").querySelector("th:nth-child(4)"), label);
  for (const row of rows.values()) row.started.node.dataset.label = label;
  tick();
}

function arrange() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const sorted = [...rows.values()].sort(
    (a, b) =>
      ORDER.indexOf(a.job.state) - ORDER.indexOf(b.job.state) ||
      a.job.application.localeCompare(b.job.application) ||
      a.job.query.localeCompare(b.job.query),
  );
  let shown = 0;
  const body = part("rows");
  sorted.forEach((row, i) => {
    row.node.hidden = !row.matches(words);
    if (!row.node.hidden) shown += 1;
    // Moving a row that is in its place would take the focus from its link.
    if (body.children[i] !== row.node) body.insertBefore(row.node, body.children[i] ?? null);
  });
  const none = rows.size === 0;
  page.dataset.view = none ? "empty" : "list";
  part("loading").hidden = true;
  part("empty").hidden = !none;
  part("search-box").hidden = none;
  part("table").hidden = none || shown === 0;
  part("no-match").hidden = none || shown > 0;
  setText(part("no-match"), `No job matches “${search.value}”.`);
}

function tick() {
  const nowMs = Date.now() + aheadMs;
  for (const row of rows.values()) row.tick(nowMs);
  const box = part("trouble");
  box.hidden = trouble === null;
  page.classList.toggle("outdated", trouble !== null && jobs !== null);
  if (trouble === null) return;
  const list = jobs === null ? "" : ` The list is as of ${clockTime(toldMs + aheadMs, chosenZone())}; states may have changed.`;
  setText(box, `${trouble.error.message}. Trying again every 5 s, for ${age(Date.now() - trouble.sinceMs)} now.${list}`);
}

const list = new JobList({
  socketUrl: socketUrl("jobs"),
  fetchJobs: () => getJson(apiUrl("jobs")),
  onJobs(items, nowMs) {
    jobs = items;
    trouble = null;
    toldMs = Date.now();
    if (nowMs !== null) aheadMs = nowMs - toldMs;
    show();
  },
  onTrouble(error) {
    trouble = { error, sinceMs: trouble?.sinceMs ?? Date.now() };
    part("loading").hidden = true;
    tick();
  },
  onRefused: toLogin,
});

search.value = new URLSearchParams(location.search).get("search") ?? "";
part("search-box").hidden = true;
search.addEventListener("input", arrange);
onZone(() => jobs && show());
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  search.focus();
});
setInterval(tick, 1000);
wireCopyButtons();
list.start();
