/**
 * The technique cards of a job, or `only` one of them, and the switch from one mode to another. The
 * server sends cards that changed along with live batches; where none come, they are asked for.
 */

import { apiUrl, getJson, sendJson } from "../core/api.js";
import { card, different } from "./card.js";
import { ask } from "../core/dialog.js";
import { element, part, setText } from "../core/dom.js";
import { isEmpty, isWide } from "./figure.js";
import { fill, optionsOf } from "./options.js";
import { age } from "../core/format.js";
import { toldBy } from "./controlstate.js";

const EVERY_MS = 5000;
// While the user waits for the job's answer to a switch.
const EVERY_AWAITED_MS = 1000;
// What the job reported longer ago may no longer be true.
const HEARD_MS = 3000;
const EVERY_WITHOUT_MS = 60_000;
// One click is meant to be enough: more than these wait behind a heading.
const FEW_OPTIONS = 4;
const OTHERS = "others";

const WHAT_WILL_CHANGE = {
  off: ["Curtail undoes what this technique changed in the running job and leaves it alone from then on."],
  advise: [
    "Curtail works out what it would do and shows it here.",
    "Nothing in the running job changes; what this technique changed before is undone.",
  ],
  act: ["Curtail changes the running job by itself whenever this technique decides so, until it is switched off."],
};

export class Techniques {
  #items = [];
  #shown = "";
  #next = null;
  #heard = null; // what the job's newest frame says, and when that came
  #received = false; // cards came with the batches
  #polledFor = 0; // the version of the control document that was last asked about

  constructor({ jobPath, nowMs, zone, only = null, onCards = () => {} }) {
    this.jobPath = jobPath;
    this.only = only;
    this.advises = true; // false where the page itself says what is to be done first
    this.onCards = onCards;
    this.nowMs = nowMs;
    this.zone = zone;
    this.root = part("techniques");
    this.list = part("cards");
    this.dialog = part("mode-dialog");
    // The cards come after the browser has looked for it.
    this.wanted = location.hash.startsWith("#technique-") ? location.hash.slice(1) : null;
  }

  async poll() {
    clearTimeout(this.#next);
    let waitMs = EVERY_MS;
    try {
      const { items } = await getJson(apiUrl(`${this.jobPath}/techniques`));
      this.#replace(items);
    } catch (error) {
      // Keep the last cards; the page's status says that the server cannot be reached.
      if (error.status === 404) waitMs = EVERY_WITHOUT_MS;
    }
    if (this.#current().some((item) => this.#awaited(item))) waitMs = EVERY_AWAITED_MS;
    this.#again(waitMs);
  }

  /** Cards that came with the batches. */
  receive(items) {
    this.#received = true;
    this.#replace(items);
  }

  /** Keeps a known card of a newer version: an answer may have been on its way during a switch. */
  #replace(items) {
    const known = new Map(this.#items.map((item) => [item.name, item]));
    this.#items = items.map((item) => (known.get(item.name)?.version > item.version ? known.get(item.name) : item));
    this.render();
  }

  #again(waitMs) {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => {
      if (document.hidden) this.#later();
      else if (this.#fed()) this.#again(EVERY_MS);
      else this.poll();
    }, waitMs);
  }

  /** Takes what the job's newest frame says of techniques: null until one is switched on. */
  hear(asked) {
    const before = this.#states();
    this.#heard = { asked, atMs: performance.now() };
    if (this.#items.length === 0) return;
    this.render();
    // Decision and effect come with the card, and an unknown version means another user's change.
    const known = Math.max(...this.#items.map(({ document_version: version }) => version ?? 0));
    const isNew = asked !== null && asked.version > Math.max(known, this.#polledFor);
    if (isNew) this.#polledFor = asked.version;
    if (!this.#received && (isNew || this.#states() !== before)) this.poll();
  }

  #current() {
    const items = this.#items.filter(({ name }) => !this.only || name === this.only);
    return this.#hears() ? items.map((item) => toldBy(this.#heard.asked, item)) : items;
  }

  #hears() {
    return this.#heard !== null && performance.now() - this.#heard.atMs < HEARD_MS;
  }

  /** Whether the server pushes changed cards, so that polling is not needed. */
  #fed() {
    return this.#received && this.#hears();
  }

  #states() {
    return this.#current().map(({ state }) => state).join();
  }

  #awaited({ state, computed_ms: computedMs }) {
    return (state === "asked" && !this.#hears()) || (computedMs === null && !this.#fed());
  }

  render(again = false) {
    const items = this.#current();
    this.root.hidden = items.length === 0;
    this.#summary(part("techniques-link"), items);
    const told = JSON.stringify([items, this.zone()]);
    if (told === this.#shown && !again) return;
    this.#shown = told;
    this.onCards(items);
    const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.of : null;
    const scrolled = new Map([...this.list.querySelectorAll("[data-scroll-of]")].map((node) => [node.dataset.scrollOf, node.scrollLeft]));
    const unfolded = new Set([...this.list.querySelectorAll("details[open]")].map(({ dataset }) => dataset.of));
    const cards = new Map(
      items.map((item) => [
        item.name,
        card(item, { zone: this.zone(), nowMs: this.nowMs(), unfolded, advises: this.advises, onMode: (mode) => this.#change(item, mode) }),
      ]),
    );
    const unfit = unfitTogether(items);
    const open = unfolded.has(OTHERS) || unfit.some(({ name }) => `technique-${name}` === this.wanted);
    // Wide ones last, since they would leave holes among the others.
    const fit = items.filter((item) => !unfit.includes(item));
    const [wide, narrow] = [true, false].map((wanted) => fit.filter(({ figure }) => Boolean(figure && isWide(figure)) === wanted));
    this.list.replaceChildren(
      ...[...narrow, ...wide].map(({ name }) => cards.get(name)),
      ...others(unfit, unfit.map(({ name }) => cards.get(name)), open),
    );
    // Without scrolling: the reader may be elsewhere by now.
    if (focused) this.list.querySelector(`[data-of="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    for (const node of this.list.querySelectorAll("[data-scroll-of]")) node.scrollLeft = scrolled.get(node.dataset.scrollOf) ?? 0;
    if (this.wanted) document.getElementById(this.wanted)?.scrollIntoView();
    this.wanted = null;
  }

  #summary(link, items) {
    if (!link) return;
    link.hidden = this.root.hidden;
    const said = ["act", "advise"]
      .map((mode) => [mode, items.filter((item) => item.mode === mode).length])
      .filter(([, number]) => number > 0)
      .map(([mode, number]) => `${number} ${mode}`);
    setText(link, `Techniques: ${said.join(", ") || "all off"}`);
  }

  #later() {
    document.addEventListener("visibilitychange", () => this.poll(), { once: true });
  }

  async #change(item, mode) {
    let { version } = item;
    const write = (name, ...nodes) => part(`mode-${name}`).replaceChildren(...nodes);
    write("title", `${item.title}: ${item.mode} → ${mode}`);
    const settings = Object.entries((mode === "act" && item.decision?.settings) || {});
    write(
      "changes",
      ...WHAT_WILL_CHANGE[mode].map((line) => element("li", {}, line)),
      ...settings.map(([name, value]) => element("li", {}, element("code", {}, name), ` becomes ${value}, by the latest decision`)),
    );
    const doubtful = mode !== "off" && item.conditions.hold === false;
    part("mode-doubt").hidden = !doubtful;
    setText(part("mode-doubt"), doubtful ? `Its conditions do not hold for this job now: ${item.conditions.why}` : "");
    const fields = part("mode-options");
    const options = mode === "off" ? [] : item.options;
    fill(fields, options);
    const more = part("mode-more");
    more.hidden = options.length === 0;
    more.open = options.length <= FEW_OPTIONS;
    setText(part("mode-summary"), `${options.length} ${options.length === 1 ? "option" : "options"}${different(options).length ? "" : ", all as usual"}`);
    const form = this.dialog.querySelector("form");
    form.elements.reason.value = "";
    setText(form.querySelector("[type=submit]"), mode === "off" ? "Switch off" : `Switch to ${mode}`);
    const changed = await ask(this.dialog, async () => {
      const body = { mode, options: optionsOf(fields, item.options), reason: form.elements.reason.value, version };
      try {
        return await sendJson("PUT", apiUrl(`${this.jobPath}/techniques/${encodeURIComponent(item.name)}`), body);
      } catch (error) {
        const { current } = error.problem ?? {};
        if (error.status !== 409 || !current) throw error;
        version = current.version;
        this.#take(current);
        throw new Error(changedMeanwhile(current, this.nowMs()));
      }
    });
    if (changed) this.#take(changed);
    this.list.querySelector(`[data-of="${CSS.escape(`${item.name} ${mode}`)}"]`)?.focus();
    this.poll();
  }

  #take(item) {
    this.#items = this.#items.map((known) => (known.name === item.name ? item : known));
    this.render();
  }
}

/** Techniques that are off, do not fit for one and the same reason and have no picture to show: one line is enough for them. */
export function unfitTogether(items) {
  const unfit = items.filter(({ mode, figure, conditions: { hold } }) => mode === "off" && hold === false && (!figure || isEmpty(figure)));
  return unfit.filter(({ conditions: { why } }) => unfit.filter((other) => other.conditions.why === why).length > 1);
}

function others(items, cards, open) {
  if (items.length === 0) return [];
  const said = `${items.length} more do not fit this job now`;
  return [
    element(
      "details",
      { class: "card-others", "data-of": OTHERS, open },
      element("summary", {}, element("strong", {}, said), `: ${items[0].conditions.why}`),
      element("div", { class: "cards" }, ...cards),
    ),
  ];
}

export function changedMeanwhile({ mode, by, since_ms }, nowMs) {
  const when = since_ms ? ` ${age(nowMs - since_ms)} ago` : "";
  return `Not changed: ${by || "somebody"} set it to “${mode}”${when}. Press the button again if you still want yours`;
}
