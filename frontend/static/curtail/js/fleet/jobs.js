/** The fleet: all jobs, the worst first, in a list that keeps itself up to date. */

import { apiUrl, getJson, socketUrl, toLogin } from "../core/api.js";
import { wireCopyButtons } from "../core/copy.js";
import { element, part, setText } from "../core/dom.js";
import { age } from "../core/format.js";
import { editJob } from "./jobedit.js";
import { JobList } from "./joblist.js";
import { JobRow } from "./jobrow.js";
import { mayOperate } from "../core/role.js";
import { clockTime } from "../core/times.js";
import { byWorst, matches, violates } from "./worst.js";
import { chosenZone } from "../core/zone.js";

const PAGE = 100;
const MOST_PAGES = 20;
const page = part("jobs");
const fields = { search: part("search"), state: part("state-filter"), tag: part("tag-filter") };
const rows = new Map();
let jobs = null;
let aheadMs = 0; // the server's clock minus this browser's
let toldMs = null; // when the server last told us the list
let trouble = null; // {error, sinceMs}
let store = "ok";

function show() {
  const ids = new Set(jobs.map(({ id }) => id));
  for (const [id, row] of rows) {
    if (ids.has(id)) continue;
    row.node.remove();
    rows.delete(id);
  }
  const acts = { onTag: (tag) => choose("tag", tag), onEdit: mayOperate() ? edit : null };
  for (const job of jobs) {
    if (!rows.has(job.id)) rows.set(job.id, new JobRow(job, acts));
    rows.get(job.id).update(job);
  }
  showTags();
  arrange();
  tick();
}

function arrange() {
  const wanted = {
    words: fields.search.value.toLowerCase().split(/\s+/).filter(Boolean),
    state: fields.state.value,
    tag: fields.tag.value,
  };
  let shown = 0;
  const body = part("rows");
  [...rows.values()]
    .sort((a, b) => byWorst(a.job, b.job))
    .forEach((row, i) => {
      row.node.hidden = !matches(row.job, wanted);
      if (!row.node.hidden) shown += 1;
      // Moving a row that is in its place would take the focus from its link.
      if (body.children[i] !== row.node) body.insertBefore(row.node, body.children[i] ?? null);
    });
  const none = rows.size === 0;
  page.dataset.view = none ? "empty" : "list";
  part("loading").hidden = true;
  part("empty").hidden = !none;
  part("filters").hidden = none;
  part("table").hidden = none || shown === 0;
  part("no-match").hidden = none || shown > 0;
  setText(part("summary"), none ? "" : summary(shown));
}

function summary(shown) {
  const total = `${rows.size} ${rows.size === 1 ? "job" : "jobs"}`;
  const number = (test) => jobs.filter(test).length;
  const said = [
    [number((job) => job.open_incidents > 0), "with an open incident"],
    [number(violates), "over their SLO"],
    [number(({ state }) => state === "stale"), "stale"],
    [number(({ state }) => state === "failed"), "failed"],
  ];
  const parts = said.filter(([many]) => many > 0).map(([many, what]) => `${many} ${what}`);
  return [shown < rows.size ? `${shown} of ${total}` : total, ...parts].join(", ");
}

function showTags() {
  const tags = [...new Set(jobs.flatMap((job) => job.tags ?? []))].sort();
  // A tag of the address stays, though no job has it now.
  const chosen = fields.tag.value;
  if (chosen && !tags.includes(chosen)) tags.push(chosen);
  const told = tags.join("\n");
  if (fields.tag.dataset.told === told) return;
  fields.tag.dataset.told = told;
  fields.tag.replaceChildren(element("option", { value: "" }, "any"), ...tags.map((tag) => element("option", { value: tag }, tag)));
  fields.tag.value = chosen;
  part("tag-box").hidden = tags.length === 0;
}

function tick() {
  const nowMs = Date.now() + aheadMs;
  for (const row of rows.values()) row.tick(nowMs);
  const box = part("trouble");
  const away = store === "away" && trouble === null;
  box.hidden = trouble === null && !away;
  page.classList.toggle("outdated", (trouble !== null && jobs !== null) || away);
  if (away) setText(box, "Redis does not answer: the jobs are listed, their numbers are missing.");
  if (trouble === null) return;
  const list = jobs === null ? "" : ` The list is as of ${clockTime(toldMs + aheadMs, chosenZone())}; states may have changed.`;
  setText(box, `${trouble.error.message}. Trying again every 5 s, for ${age(Date.now() - trouble.sinceMs)} now.${list}`);
}

async function edit(job) {
  const changed = await editJob(job);
  if (!changed) return;
  jobs = jobs.map((known) => (known.id === job.id ? { ...known, ...changed } : known));
  show();
}

function choose(name, value) {
  fields[name].value = value;
  filtered();
}

/** The address has what is asked for, so that it can be sent to somebody. */
function filtered() {
  const query = new URLSearchParams();
  for (const [name, { value }] of Object.entries(fields)) if (value) query.set(name, value);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
  arrange();
}

/** All pages of the list; a server that knows no pages gives all at once. */
async function fetchJobs() {
  const items = [];
  let answer = null;
  for (let i = 0; i < MOST_PAGES && (answer === null || answer.next); i += 1) {
    const cursor = answer?.next ? `&cursor=${encodeURIComponent(answer.next)}` : "";
    answer = await getJson(apiUrl(`jobs?limit=${PAGE}${cursor}`));
    items.push(...answer.items);
  }
  return { ...answer, items };
}

const list = new JobList({
  socketUrl: socketUrl("jobs"),
  fetchJobs,
  onJobs(items, nowMs, storeState) {
    jobs = items;
    store = storeState;
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

const asked = new URLSearchParams(location.search);
fields.search.value = asked.get("search") ?? "";
fields.state.value = asked.get("state") ?? "";
if (fields.state.selectedIndex < 0) fields.state.value = "";
const tag = asked.get("tag");
if (tag) {
  fields.tag.append(element("option", { value: tag }, tag));
  fields.tag.value = tag;
}
for (const field of Object.values(fields)) field.addEventListener("input", filtered);
part("show-all").addEventListener("click", () => {
  for (const field of Object.values(fields)) field.value = "";
  filtered();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea, dialog")) return;
  event.preventDefault();
  fields.search.focus();
});
setInterval(tick, 1000);
wireCopyButtons();
list.start();
