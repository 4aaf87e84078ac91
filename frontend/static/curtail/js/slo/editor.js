/** The dialog in which a job's SLO is set, changed and withdrawn, or only looked at. */

import { apiUrl, sendJson } from "../core/api.js";
import { ask, openDialog } from "../core/dialog.js";
import { element, part } from "../core/dom.js";
import { mayOperate } from "../core/role.js";
import { faults, fill, focusFirst, read, showFaults } from "./fields.js";
import { objectiveWords } from "./objective.js";
import { utilityPicture } from "./picture.js";
import { PointList } from "./points.js";
import { firstPoints, pointsFault } from "./utility.js";

const KINDS = ["latency", "juice"];
const WITHOUT = { latency: "With a threshold, what each latency is worth is drawn here", juice: "With a threshold, what each juice is worth is drawn here" };

export class SloEditor {
  #now = {}; // the values measured last, by kind
  #tried = false; // whether somebody wanted to save: before that, what is not typed yet is no fault

  constructor(jobPath) {
    this.url = apiUrl(`${jobPath}/slo`);
    this.dialog = part("slo-dialog");
    this.form = this.dialog.querySelector("form");
    const inDialog = (kind, what) => this.dialog.querySelector(`[data-${what}="${kind}"]`);
    this.points = Object.fromEntries(KINDS.map((kind) => [kind, new PointList(inDialog(kind, "points"), kind, () => this.#show())]));
    this.pictures = Object.fromEntries(KINDS.map((kind) => [kind, inDialog(kind, "picture")]));
    this.targets = Object.fromEntries(KINDS.map((kind) => [kind, inDialog(kind, "target")]));
    this.form.addEventListener("input", ({ target }) => {
      if (target.name?.endsWith("utility.shape")) this.#beginPoints(target.name.split(".")[0]);
      this.#show();
    });
  }

  /** `slo`: {objective, version}; `now`: {latency, juice} as measured. Resolves to the new one, or null. */
  open({ objective, version }, now) {
    this.#now = now;
    this.#tried = false;
    fill(this.form, this.points, objective);
    this.form.elements.reason.value = "";
    const may = mayOperate();
    part("slo-fields").disabled = !may;
    part("slo-reason").hidden = part("slo-save").hidden = !may;
    part("slo-withdraw").hidden = !may || !objective;
    part("slo-cancel").textContent = may ? "Cancel" : "Close";
    this.#show();
    if (!may) {
      part("dialog-trouble").hidden = true;
      openDialog(this.dialog);
      return Promise.resolve(null);
    }
    let latest = version;
    return ask(this.dialog, async (form, submitter) => {
      const withdrawn = submitter?.value === "withdraw";
      const wanted = withdrawn ? null : this.#checked();
      try {
        return await sendJson("PUT", this.url, { objective: wanted, version: latest, reason: form.elements.reason.value });
      } catch (error) {
        if (error.status === 400) this.#refused(error);
        if (error.status !== 409) throw error;
        const { current } = error.problem;
        latest = current?.version ?? latest;
        throw new Error(`Not changed: somebody set the SLO to “${objectiveWords(current?.objective)}” meanwhile. Press the button again if you still want yours`);
      }
    });
  }

  #checked() {
    const wanted = read(this.form, this.points);
    const found = faults(wanted);
    if (found.length === 0) return wanted;
    this.#tried = true;
    this.#show();
    focusFirst(this.form);
    throw new Error("Not saved: see what is marked");
  }

  #refused({ problem: { faults: found = [] } }) {
    const others = showFaults(this.form, found);
    if (found.length === 0 || others.length) return;
    focusFirst(this.form);
    throw new Error("Not saved: see what is marked");
  }

  /** Points begin where the knee is: whoever wants another shape moves them. */
  #beginPoints(kind) {
    const target = read(this.form, this.points)[kind];
    const threshold = target?.threshold_ms ?? target?.threshold;
    if (target?.utility.shape !== "points" || this.points[kind].value.length) return;
    this.points[kind].value = firstPoints(kind, threshold > 0 ? threshold : kind === "latency" ? 500 : 0.95);
  }

  #show() {
    const wanted = read(this.form, this.points);
    const targets = KINDS.filter((kind) => wanted[kind]);
    for (const kind of KINDS) {
      const target = wanted[kind];
      this.targets[kind].classList.toggle("off", !target);
      this.points[kind].root.hidden = target?.utility.shape !== "points";
      this.#draw(kind, target, wanted.priority / targets.length);
    }
    showFaults(this.form, this.#tried ? faults(wanted) : []);
  }

  #draw(kind, target, most) {
    const threshold = target?.threshold_ms ?? target?.threshold;
    const missing = threshold > 0 ? target.utility.shape === "points" && pointsFault(kind, target.utility.points) : WITHOUT[kind];
    // In the place of the picture: a line more in the form would move what somebody is about to press.
    this.pictures[kind].replaceChildren(
      missing || !(most > 0) ? element("p", { class: "muted" }, missing ? `${missing}.` : "") : utilityPicture({ kind, threshold, utility: target.utility, most, now: this.#now[kind] ?? null }),
    );
  }
}
