/** The job's SLO in one line: what it is, whether it is met now, its utility and its error budget. */

import { clusterUrl, getJson } from "../core/api.js";
import { clock } from "../core/clock.js";
import { element, part, setText } from "../core/dom.js";
import { mayOperate } from "../core/role.js";
import { SloEditor } from "./editor.js";
import { objectiveWords } from "./objective.js";
import { BURN, burnWords, isMet, juiceNow, latencyNow, metWord, utilityWords } from "./standing.js";

const LABEL = "cluster:";
// Budgets are over an hour and a day: they need not be asked for with everything else.
const BUDGETS_EVERY_MS = 30_000;

export class SloLine {
  #budgets = null; // {"1h": {burn_rate, …}, "1d": …}
  #askedMs = -Infinity;
  #cluster = null; // its name, where the job is tagged with one
  #wanted = location.hash === "#slo";
  #slo = undefined; // as the API has it of a job; null where there is none

  /** `onObjective` is told of another SLO, `onSaved` of one that was set here. */
  constructor({ jobPath, onObjective, onSaved }) {
    this.onObjective = onObjective;
    this.onSaved = onSaved;
    this.root = part("slo");
    this.button = part("slo-open");
    this.editor = new SloEditor(jobPath);
    this.button.addEventListener("click", () => this.#edit());
  }

  get objective() {
    return this.#slo?.objective ?? null;
  }

  update({ slo, tags = [] }) {
    this.#cluster = tags.find((tag) => tag.startsWith(LABEL))?.slice(LABEL.length) ?? null;
    const changed = slo?.version !== this.#slo?.version;
    this.#slo = slo ?? null;
    const objective = this.objective;
    setText(part("slo-words"), objective ? objectiveWords(objective) : "none");
    setText(this.button, !mayOperate() ? "Show" : objective ? "Change" : "Set an SLO");
    this.button.hidden = !objective && !mayOperate();
    this.root.dataset.met = objective ? String(isMet(this.#slo)) : "";
    if (changed) {
      this.#budgets = null;
      this.#askedMs = -Infinity;
      this.onObjective();
    }
    this.#showFacts();
    if (objective) this.#loadBudgets();
    // The list of jobs leads here.
    if (this.#wanted) this.#edit();
  }

  #showFacts() {
    const cluster = this.#cluster && element("a", { href: clusterUrl(this.#cluster) }, this.#cluster);
    const told = [...(this.objective ? facts(this.#slo, this.#budgets) : []), ...(cluster ? [["Cluster", cluster]] : [])];
    part("slo-facts").replaceChildren(
      ...told.map(([term, value, hint]) => element("div", { title: hint ?? null }, element("dt", {}, term), element("dd", {}, value))),
    );
  }

  async #loadBudgets() {
    if (clock.now() - this.#askedMs < BUDGETS_EVERY_MS) return;
    this.#askedMs = clock.now();
    const told = await getJson(this.editor.url).catch(() => null);
    // Of another version, they would be of another objective.
    if (told?.version !== this.#slo?.version) return;
    this.#budgets = told.budgets ?? null;
    this.#showFacts();
  }

  async #edit() {
    this.#wanted = false;
    const { objective = null, version = 0, latency_ms: latency, juice } = this.#slo ?? {};
    const put = await this.editor.open({ objective, version }, { latency, juice });
    if (put) {
      this.update({ slo: put.objective ? put : null, tags: this.#cluster ? [`${LABEL}${this.#cluster}`] : [] });
      this.onSaved();
    }
    this.button.focus();
  }
}

function facts(slo, budgets) {
  const { objective, latency_ms: latencyMs, juice, utility } = slo;
  const word = element("span", { class: "met" }, element("span", { class: "dot", "aria-hidden": "true" }), metWord(isMet(slo)));
  const measured = [objective.latency && Number.isFinite(latencyMs) && latencyNow(latencyMs), objective.juice && Number.isFinite(juice) && `juice ${juiceNow(juice)}`];
  const now = measured.filter(Boolean).join(", ");
  return [
    ["Now", element("span", {}, word, now ? `: ${now}` : "")],
    ["Utility", utilityWords(utility, objective.priority)],
    ["Burn 1 h", burnWords(budgets?.["1h"]?.burn_rate), BURN],
    ["1 d", burnWords(budgets?.["1d"]?.burn_rate), BURN],
  ];
}
