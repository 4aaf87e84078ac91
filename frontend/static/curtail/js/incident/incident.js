/** The page of one incident: what it is, what helps, and the windows that show it. */

import { apiUrl, getJson, jobUrl, sendJson, socketUrl } from "../core/api.js";
import { choice } from "../core/choice.js";
import { ask } from "../core/dialog.js";
import { element, part, setText } from "../core/dom.js";
import { chance, factsOf, places, spansOf } from "./evidence.js";
import { age, count, duration, text } from "../core/format.js";
import { kindName, panelsOf } from "./kinds.js";
import { wireKeys } from "../job/keys.js";
import { PANELS, presentIn } from "../chart/panels.js";
import { remedy } from "./remedy.js";
import { mayOperate } from "../core/role.js";
import { SteadySocket } from "../core/socket.js";
import { tableOne } from "./tableone.js";
import { Techniques } from "../technique/techniques.js";
import { clockTime, dateTime, windowTime, zoneName } from "../core/times.js";
import { chosenZone, onZone } from "../core/zone.js";
import { Zoomed } from "../chart/zoomed.js";

const EVERY_MS = 5000;

const ACTS = {
  acknowledge: {
    label: "Acknowledge",
    text: "Says that somebody has seen it. It stays with the jobs that need a look until it is over.",
  },
  resolve: {
    label: "Resolve",
    text: "Says that it is over, and tells whoever was told of it. A new one opens when the same trouble comes back after it was gone.",
  },
};

const { incident: id, job } = part("incident").dataset;
const asked = new URLSearchParams(location.search);
const zoomed = new Zoomed({
  jobPath: `jobs/${encodeURIComponent(job)}`,
  onMove: () => {
    // While the user has zoomed in, the next occurrence must not move the view.
    pickedMs ??= zoomed.chosen[0];
    showJobLink();
  },
  onDraw: showCounts,
});
let incident = null;
let techniques = null; // the card of the technique that helps
let listening = null; // the feed of the job, while the user waits for its answer
let remedied = ""; // the text last shown beside the card
let told = "";
let pickedMs = Number(asked.get("at")) || null; // the start of the occurrence chosen; null follows the newest
let panels = asked.get("panels") === "all" ? "all" : "kind";

async function poll() {
  try {
    take(await getJson(apiUrl(`incidents/${id}`)));
    say("");
  } catch (error) {
    say(error.status === 404 ? "The server does not know this incident any more." : `${error.message}. What is shown is what was last heard.`);
  }
  zoomed.refresh();
}

function take(found) {
  incident = found;
  if (!techniques) showRemedy();
  const now = JSON.stringify([found, chosenZone()]);
  if (now !== told) {
    told = now;
    show();
  }
  tick();
}

function show() {
  const main = part("incident");
  main.dataset.state = incident.state;
  setText(document.querySelector("h1"), incident.title);
  setText(part("explanation"), incident.explanation);
  showActs();
  showOccurrences();
  showEvidence();
  showTable();
  main.dataset.view = "there";
}

/** Redraws the parts that depend on the clock. */
function tick() {
  if (!incident) return;
  setText(part("standing-word"), standing());
  setText(part("weight"), weight());
  const rows = facts();
  const list = part("facts");
  // The terms stay: only what differs is written, so that a selection is not lost every second.
  while (list.children.length > rows.length) list.lastElementChild.remove();
  rows.forEach(([term, value], i) => {
    const row = list.children[i] ?? list.appendChild(element("div", {}, element("dt"), element("dd")));
    setText(row.firstElementChild, term);
    setText(row.lastElementChild, value);
  });
}

function standing() {
  const { state, acknowledged_by: by, acknowledged_ms: seenMs, end_ms: endMs } = incident;
  return {
    open: "Open",
    acknowledged: `Acknowledged by ${by}${seenMs ? `, ${age(Date.now() - seenMs)} ago` : ""}`,
    resolved: `Resolved${endMs ? `, ${age(Date.now() - endMs)} ago` : ""}`,
  }[state];
}

function weight() {
  const added = incident.evidence?.worst_added_ms;
  return added >= 1 ? `${incident.severity}: p99 up to ${text(duration(added))} above the usual` : incident.severity;
}

function facts() {
  const zone = chosenZone();
  const { onset_ms: onsetMs, end_ms: endMs, occurrences, next_expected_ms: nextMs, evidence, state } = incident;
  const when = (ms) => `${dateTime(ms, zone)} ${zoneName(ms, zone)}`;
  const lastMs = spansOf(incident).at(-1)[1];
  const rows = [
    ["Onset", when(onsetMs)],
    endMs ? ["End", `${when(endMs)}, after ${text(duration(Math.max(0, endMs - onsetMs)))}`] : ["Last seen", `${clockTime(lastMs, zone)}, ${age(Date.now() - lastMs)} ago`],
    ["Occurrences", text(count(occurrences))],
  ];
  if (evidence?.period_ms) rows.push(["Period", text(duration(evidence.period_ms))]);
  if (nextMs && state !== "resolved") rows.push(["Next expected", `${clockTime(nextMs, zone)}, ${nextMs > Date.now() ? `in ${age(nextMs - Date.now())}` : `${age(Date.now() - nextMs)} overdue`}`]);
  if (places(incident)) rows.push(["Where", places(incident)]);
  rows.push(["Kind", kindName(incident.kind)]);
  return rows;
}

function showActs() {
  const names = !mayOperate() || incident.state === "resolved" ? [] : incident.state === "open" ? ["acknowledge", "resolve"] : ["resolve"];
  const root = part("acts");
  if (root.dataset.has === names.join()) return;
  root.dataset.has = names.join();
  root.replaceChildren(
    ...names.map((name) => {
      const button = element("button", { type: "button", class: "quiet-button" }, ACTS[name].label);
      button.addEventListener("click", () => act(name));
      return button;
    }),
  );
}

async function act(name) {
  const dialog = part("act-dialog");
  const form = dialog.querySelector("form");
  setText(part("act-title"), `${ACTS[name].label} this incident?`);
  setText(part("act-text"), ACTS[name].text);
  setText(form.querySelector("[type=submit]"), ACTS[name].label);
  form.elements.reason.value = "";
  const changed = await ask(dialog, async () => {
    try {
      return await sendJson("POST", apiUrl(`incidents/${id}/${name}`), { reason: form.elements.reason.value });
    } catch (error) {
      if (error.problem?.current) take(error.problem.current);
      throw error;
    }
  });
  if (changed) take(changed);
  (part("acts").querySelector("button") ?? part("standing")).focus();
}

function showRemedy() {
  const { technique } = incident;
  const say = (cards) => {
    listen(cards?.some(({ state }) => state === "asked"));
    if (techniques) techniques.advises = !incident.first;
    const told = JSON.stringify([cards?.length, incident.first]);
    if (told === remedied) return; // keep a selection of the line to copy
    remedied = told;
    part("remedy").replaceChildren(...remedy(technique, cards, incident.first));
  };
  say(null);
  if (!technique) return;
  techniques = new Techniques({ jobPath: zoomed.jobPath, nowMs: () => Date.now(), zone: chosenZone, only: technique, onCards: say });
  techniques.poll();
}

function listen(awaited) {
  if (awaited && !listening) {
    const onMessage = ({ type, items, asked: said }) => {
      if (type === "cards") techniques.receive(items);
      else if (said !== undefined) techniques.hear(said);
    };
    // Without a connection to the job, the card is still polled.
    listening = new SteadySocket(socketUrl(zoomed.jobPath), { onMessage, onDown: () => {}, onRefused: () => {} });
    listening.open();
  } else if (!awaited && listening) {
    listening.close();
    listening = null;
  }
}

function showOccurrences() {
  const zone = chosenZone();
  const spans = spansOf(incident);
  const root = part("occurrences");
  const focused = root.contains(document.activeElement) ? document.activeElement.value : null;
  root.replaceChildren(
    ...spans.map(([startMs, endMs]) => {
      const took = endMs > startMs ? ` for ${text(duration(endMs - startMs))}` : "";
      const chip = element("button", { type: "button", class: "chip", value: String(startMs), title: `At ${windowTime(startMs, zone)}${took}` }, windowTime(startMs, zone).slice(0, -2));
      chip.addEventListener("click", () => pick(startMs));
      return chip;
    }),
  );
  if (focused) root.querySelector(`[value="${focused}"]`)?.focus();
  part("occurrences-note").hidden = incident.occurrences <= spans.length;
  setText(part("occurrences-note"), `The newest ${spans.length} of ${incident.occurrences}`);
  zoomed.spans = spans;
  showPicked();
}

function pick(startMs) {
  pickedMs = startMs;
  showPicked();
  address();
}

/** The occurrence that was chosen, or the newest. */
function showPicked() {
  const spans = spansOf(incident);
  const found = spans.find(([startMs]) => startMs === pickedMs) ?? pickedEarlier(spans) ?? spans.at(-1);
  const root = part("occurrences");
  for (const chip of root.children) chip.setAttribute("aria-pressed", String(Number(chip.value) === found[0]));
  const chip = root.querySelector("[aria-pressed=true]");
  // Not scrollIntoView, which would move the page as well.
  if (chip) root.scrollLeft = chip.offsetLeft - (root.clientWidth - chip.offsetWidth) / 2;
  zoomed.panels = panels === "all" ? PANELS : panelsOf(incident.kind);
  zoomed.show(found);
  zoomed.touch(true);
  showJobLink();
}

/** How many panels there are depends on the job: only one with a pool has panels of a pool. */
function showCounts(picture) {
  setText(part("panels-kind"), `The ${presentIn(picture, panelsOf(incident.kind)).length} that matter`);
  setText(part("panels-all"), `All ${presentIn(picture).length}`);
}

/** A chosen occurrence that the detector no longer reports stays if it can be of this incident. */
function pickedEarlier(spans) {
  if (zoomed.chosen?.[0] === pickedMs) return zoomed.chosen;
  return pickedMs >= incident.onset_ms && pickedMs <= spans.at(-1)[1] ? [pickedMs, pickedMs] : null;
}

function step(direction) {
  if (!incident) return;
  const spans = spansOf(incident);
  const at = spans.findIndex(([startMs]) => startMs === zoomed.chosen?.[0]);
  const [startMs] = spans[Math.min(spans.length - 1, Math.max(0, at + direction))];
  pick(startMs);
}

function showJobLink() {
  const [startMs, endMs] = zoomed.range.map(Math.round);
  part("job-link").href = `${jobUrl(job)}?from=${startMs}&to=${endMs}&incident=${id}`;
}

function showEvidence() {
  const { p_value: p } = incident.evidence ?? {};
  const rows = factsOf(incident);
  // Not twice: most detectors list their p-value among the facts already.
  const said = Number.isFinite(p) ? chance(p) : "";
  if (said && !rows.some(([, value]) => value === said)) rows.push(["Probability of seeing the like without the cause", said]);
  part("evidence").hidden = rows.length === 0;
  part("evidence-rows").replaceChildren(
    ...rows.map(([term, value]) => element("tr", {}, element("th", { scope: "row" }, term), element("td", {}, value))),
  );
}

function showTable() {
  const rows = incident.evidence?.table ?? [];
  part("table-one").hidden = rows.length === 0;
  if (rows.length) part("table-one-rows").replaceChildren(tableOne(rows, spansOf(incident), chosenZone(), (span) => zoomed.show(span)));
}

function say(trouble) {
  part("trouble").hidden = !trouble;
  setText(part("trouble"), trouble);
}

function address() {
  const query = new URLSearchParams();
  if (pickedMs) query.set("at", pickedMs);
  if (panels === "all") query.set("panels", panels);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
}

choice(part("panels-choice"), panels, (chosen) => {
  panels = chosen;
  if (incident) showPicked();
  address();
});
wireKeys({ n: () => step(1), p: () => step(-1) });
onZone(() => {
  if (incident) take(incident);
  techniques?.render(true);
});
setInterval(() => document.hidden || tick(), 1000);
setInterval(() => document.hidden || incident?.state === "resolved" || poll(), EVERY_MS);
document.addEventListener("visibilitychange", () => document.hidden || poll());
poll();
