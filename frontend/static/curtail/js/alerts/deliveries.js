/** What was sent to one endpoint, newest first; looked at again while something is on its way. */

import { ask } from "../core/ask.js";
import { apiUrl, getJson, sendJson } from "../core/api.js";
import { element, part, setText } from "../core/dom.js";
import { duration, text } from "../core/format.js";
import { dayTime, zoneName } from "../core/times.js";
import { tried } from "../core/trouble.js";
import { chosenZone } from "../core/zone.js";

const PAGE = 20;
const LOOK_AGAIN_MS = 1_500;
let shown = null;
let items = [];
let next = null;
let timer = null;

/** `changed` is called when the state of the endpoint itself may be another. */
export async function showDeliveries(endpoint, { operates, changed }) {
  shown = { endpoint, operates, changed };
  setText(part("deliveries-title"), `Deliveries to ${endpoint.name}`);
  await load();
  part("deliveries").hidden = false;
  part("deliveries-title").focus();
}

export function hideDeliveries(id) {
  if (shown?.endpoint.id !== id) return;
  shown = null;
  clearTimeout(timer);
  part("deliveries").hidden = true;
}

export function redrawDeliveries() {
  if (shown) draw();
}

async function load(cursor = null) {
  const asked = shown;
  clearTimeout(timer);
  const older = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  const url = `${apiUrl(`webhooks/${asked.endpoint.id}/deliveries`)}?limit=${PAGE}${older}`;
  const answer = await tried(cursor === null ? null : part("deliveries-older"), () => getJson(url));
  // Another endpoint may have been opened while this one was read.
  if (!answer || shown !== asked) return;
  items = cursor === null ? answer.items : [...items, ...answer.items];
  next = answer.next;
  draw();
  watch();
}

function watch() {
  const soon = Date.now() + 60_000;
  if (!items.some((item) => item.state === "pending" && item.due_ms < soon)) return;
  timer = setTimeout(async () => {
    if (!shown) return;
    await load();
    shown?.changed();
  }, LOOK_AGAIN_MS);
}

function draw() {
  part("deliveries-empty").hidden = items.length > 0;
  part("deliveries-table").hidden = items.length === 0;
  setText(part("deliveries-when"), `When (${zoneName(Date.now(), chosenZone())})`);
  part("deliveries-rows").replaceChildren(...items.map(row));
  part("deliveries-more").hidden = next === null;
}

function row(item) {
  const zone = chosenZone();
  const due = item.due_ms && item.attempts ? `next ${dayTime(item.due_ms, zone)}` : null;
  return element(
    "tr",
    {},
    element("td", { class: "number", "data-label": "When" }, dayTime(item.created_ms, zone)),
    element("td", { "data-label": "What" }, element("div", {}, item.title, note(`${item.type} · ${item.job}`), note(item.webhook_id))),
    element(
      "td",
      { "data-label": "State" },
      element("div", { class: item.state === "failed" ? "bad" : "" }, item.state, item.because ? note(item.because) : null, due ? note(due) : null),
    ),
    element("td", { class: "number", "data-label": "Attempts" }, String(item.attempts)),
    element("td", { class: "answer", "data-label": "Last answer" }, ...answer(item.log[0])),
    element("td", { class: "acts" }, ...(shown.operates ? [replayButton(item)] : [])),
  );
}

function note(words) {
  return element("span", { class: "note" }, words);
}

function answer(attempt) {
  if (!attempt) return [];
  const said = `${attempt.status ?? attempt.error} after ${text(duration(attempt.duration_ms))}`;
  // Only admins get the response at all.
  if (!attempt.response) return [said];
  return [element("details", {}, element("summary", {}, said), element("pre", {}, attempt.response))];
}

function replayButton(item) {
  const button = element("button", { class: "plain", type: "button", "aria-label": `Replay ${item.title}` }, "Replay");
  button.addEventListener("click", async () => {
    const reason = await ask({
      title: "Send it again?",
      text: `${item.title}, under the same id: a receiver that has it already may ignore it.`,
      yes: "Send again",
    });
    if (reason === null) return;
    const again = await tried(button, () => sendJson("POST", apiUrl(`deliveries/${item.id}/replay`), { reason }));
    if (again) await load();
  });
  return button;
}

part("deliveries-older").addEventListener("click", () => load(next));
