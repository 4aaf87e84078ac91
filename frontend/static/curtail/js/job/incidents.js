/** The incidents of a job: polled, marked on the chart, and opened beside it. */

import { apiUrl, getJson, incidentUrl, sendJson } from "../core/api.js";
import { element, part, setText } from "../core/dom.js";
import { factsOf } from "../incident/evidence.js";
import { count, duration, text } from "../core/format.js";
import { clockTime, dayTime, zoneName } from "../core/times.js";
import { mayOperate } from "../core/role.js";
import { RETENTION_MS } from "../chart/scene.js";

const EVERY_MS = 10_000;
// A server without incidents answers 404: no use in asking often.
const EVERY_WITHOUT_MS = 60_000;
// A mark nearer than this to the one before would cover it.
const MARK_PX = 12;

export class Incidents {
  #items = [];
  #next = null;
  #marks = new Map();

  /** `onShow(incident)` brings its time into view, `onOpen(id)` is told what is open. */
  constructor({ jobPath, nowMs, zone, onShow, onOpen }) {
    this.jobPath = jobPath;
    this.nowMs = nowMs;
    this.zone = zone;
    this.onShow = onShow;
    this.onOpen = onOpen;
    this.open = null; // an id, "list" or null
    this.panel = part("incidents");
    this.button = part("incidents-button");
    this.marksRoot = part("marks");
    this.button.addEventListener("click", () => this.choose(this.open === null ? "list" : null));
    part("incidents-close").addEventListener("click", () => {
      this.choose(null);
      this.button.focus();
    });
  }

  get items() {
    return this.#items;
  }

  async poll() {
    clearTimeout(this.#next);
    let waitMs = EVERY_MS;
    try {
      const endMs = Math.ceil(this.nowMs()) + 1;
      const range = `start_ms=${endMs - RETENTION_MS}&end_ms=${endMs}`;
      const { items } = await getJson(apiUrl(`${this.jobPath}/incidents?${range}`));
      this.#items = items.toSorted((a, b) => b.onset_ms - a.onset_ms);
      this.render();
    } catch (error) {
      // Known incidents stay: they do not end because the server cannot be reached.
      if (error.status === 404) waitMs = EVERY_WITHOUT_MS;
    }
    this.#next = setTimeout(() => (document.hidden ? this.#later() : this.poll()), waitMs);
  }

  choose(id) {
    this.open = id;
    this.onOpen(id);
    this.render();
  }

  /** The next incident in time (+1) or the one before it (−1). */
  step(direction) {
    const ordered = this.#items.toReversed();
    if (ordered.length === 0) return;
    const at = ordered.findIndex(({ id }) => id === this.open);
    const wanted = at < 0 ? ordered.length - 1 : Math.min(ordered.length - 1, Math.max(0, at + direction));
    this.choose(ordered[wanted].id);
    this.onShow(ordered[wanted]);
  }

  /** Puts a mark on the time axis for each one in view. */
  mark(chart, [startMs, endMs]) {
    const seen = new Set();
    let lastPx = -Infinity;
    for (const incident of this.#items.toReversed()) {
      if (incident.onset_ms > endMs || (incident.end_ms ?? Infinity) < startMs) continue;
      seen.add(incident.id);
      const mark = this.#markOf(incident);
      const px = Math.max(chart.placeOf(Math.max(incident.onset_ms, startMs)), lastPx + MARK_PX);
      const untilPx = chart.placeOf(Math.min(incident.end_ms ?? this.nowMs(), endMs));
      lastPx = px;
      mark.node.style.transform = `translateX(${px}px)`;
      mark.band.style.width = `${Math.max(2, untilPx - px)}px`;
      mark.node.dataset.state = incident.state;
      mark.button.setAttribute("aria-expanded", String(this.open === incident.id));
    }
    for (const [id, { node }] of this.#marks) {
      if (seen.has(id)) continue;
      node.remove();
      this.#marks.delete(id);
    }
  }

  render() {
    const openOnes = this.#items.filter(({ state }) => state === "open").length;
    this.button.hidden = this.#items.length === 0 && this.open === null;
    setText(this.button, incidentsSay(this.#items.length, openOnes));
    this.button.classList.toggle("alarm", openOnes > 0);
    this.button.setAttribute("aria-expanded", String(this.open !== null));
    this.panel.hidden = this.open === null;
    if (this.open === null) return;
    const list = part("incidents-list");
    const entries = this.#items.map((incident) => this.#entry(incident));
    const unknown = this.open !== "list" && !this.#items.some(({ id }) => id === this.open);
    if (entries.length === 0 || unknown) {
      entries.unshift(element("li", { class: "muted" }, unknown ? `Incident ${this.open} is not among those of the last hour.` : "None in the last hour."));
    }
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.of : null;
    list.replaceChildren(...entries);
    if (focused) list.querySelector(`[data-of="${focused}"]`)?.focus();
  }

  #later() {
    document.addEventListener("visibilitychange", () => this.poll(), { once: true });
  }

  #markOf(incident) {
    let mark = this.#marks.get(incident.id);
    if (!mark) {
      const label = `Incident: ${incident.title}, ${clockTime(incident.onset_ms, this.zone())}`;
      const button = element("button", { type: "button", class: "mark", title: label, "aria-label": label });
      button.addEventListener("click", () => this.choose(this.open === incident.id ? "list" : incident.id));
      const band = element("span", { class: "mark-band" });
      mark = { button, band, node: element("div", { class: "mark-line" }, band, button) };
      this.marksRoot.append(mark.node);
      this.#marks.set(incident.id, mark);
    }
    return mark;
  }

  #entry(incident) {
    const open = this.open === incident.id;
    const zone = this.zone();
    const head = element(
      "button",
      { type: "button", class: "incident-head", "aria-expanded": String(open), "data-of": String(incident.id) },
      element("span", { class: "incident-title" }, incident.title),
      element("span", { class: "incident-when" }, `${dayTime(incident.onset_ms, zone)} ${zoneName(incident.onset_ms, zone)}`),
      element("span", { class: "incident-state" }, incident.state),
    );
    head.addEventListener("click", () => {
      this.choose(open ? "list" : incident.id);
      if (!open) this.onShow(incident);
    });
    return element("li", { class: "incident", "data-state": incident.state }, head, open ? this.#details(incident) : null);
  }

  #details(incident) {
    const zone = this.zone();
    const lasted = (incident.end_ms ?? this.nowMs()) - incident.onset_ms;
    const facts = [
      [incident.end_ms ? "Lasted" : "Lasts for", text(duration(Math.max(0, lasted)))],
      ["Severity", incident.severity],
      ["Seen", incident.occurrences === 1 ? "once" : `${text(count(incident.occurrences))} times`],
    ];
    if (incident.next_expected_ms) facts.push(["Next expected", clockTime(incident.next_expected_ms, zone)]);
    facts.push(...factsOf(incident));
    const show = element("button", { type: "button", class: "plain" }, "Show on the chart");
    show.addEventListener("click", () => this.onShow(incident));
    const whole = element("a", { href: incidentUrl(incident.id) }, "All of it");
    const acts = element("p", { class: "incident-acts" }, show, whole);
    if (incident.technique) {
      acts.append(element("a", { href: `#technique-${incident.technique}` }, "The technique against it"));
    }
    if (mayOperate() && incident.state === "open") acts.append(this.#acknowledge(incident));
    return element(
      "div",
      { class: "incident-body" },
      element("p", {}, incident.explanation),
      element("dl", { class: "pairs" }, ...facts.map(([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value)))),
      acts,
    );
  }

  #acknowledge(incident) {
    const reason = element("input", { name: "reason", "aria-label": "Reason, optional", placeholder: "Reason, optional", maxlength: "500" });
    const button = element("button", { type: "submit", class: "quiet-button" }, "Acknowledge");
    const form = element("form", { class: "inline-form" }, reason, button);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      try {
        await sendJson("POST", apiUrl(`incidents/${incident.id}/acknowledge`), { reason: reason.value });
        await this.poll();
      } catch (error) {
        button.disabled = false;
        form.append(element("p", { class: "field-error", role: "alert" }, `${error.message}.`));
      }
    });
    return form;
  }
}

function incidentsSay(all, open) {
  const said = `${all} ${all === 1 ? "incident" : "incidents"}`;
  return open ? `${said}, ${open} open` : said;
}
