/** One job as a table row, kept and updated in place, so that focus and selection survive. */

import { jobUrl } from "../core/api.js";
import { element, setText } from "../core/dom.js";
import { age, count, duration, NOTHING, text } from "../core/format.js";
import { lateParts, Lateness, losses } from "../job/health.js";
import { Sparkline } from "./sparkline.js";
import { isOver, sloRatio, violates } from "./worst.js";

export class JobRow {
  #tags = "";
  #techniques = "";
  #lateness = new Lateness();

  constructor(job, { onTag, onEdit }) {
    this.job = job;
    this.onTag = onTag;
    this.word = element("span");
    this.since = element("span", { class: "since" });
    this.state = element("span", { class: "state" }, element("span", { class: "dot", "aria-hidden": "true" }), this.word, this.since);
    this.tags = element("span", { class: "tags" });
    this.p99 = element("span", { class: "p99" });
    this.against = element("span", { class: "against" });
    this.bar = element("span", { class: "bullet", "aria-hidden": "true" }, element("span", { class: "fill" }));
    this.spark = new Sparkline();
    this.backlog = element("span");
    this.incidents = element("span");
    this.techniques = element("span", { class: "techniques" });
    this.collector = element("span");
    const link = element(
      "a",
      { href: jobUrl(job.id), title: `${job.application} / ${job.query}` },
      job.application,
      element("span", { class: "slash" }, " / "),
      element("strong", {}, job.query),
    );
    const edit = onEdit && element("button", { type: "button", class: "plain", "aria-label": `SLO and tags of ${job.id}` }, "Edit");
    edit?.addEventListener("click", () => onEdit(this.job));
    this.node = element(
      "tr",
      { role: "row" },
      cell("", "state-cell", this.state),
      element("th", { scope: "row", role: "rowheader", class: "job-cell" }, link, this.tags),
      cell("p99", "p99-cell", this.p99, this.against, this.bar),
      cell("p99, 15 min", "spark-cell", this.spark.node),
      cell("Backlog", "number", this.backlog),
      cell("Incidents, 1 h", "number", this.incidents),
      cell("Techniques", "techniques-cell", this.techniques),
      cell("Collector", "collector-cell", this.collector),
      cell("", "edit-cell", edit ?? ""),
    );
  }

  update(job) {
    this.job = job;
    const { run, slo } = job;
    this.node.dataset.state = job.state;
    setText(this.word, job.state);
    this.state.title = run?.end_reason ?? "";
    this.#showLatency(job);
    this.spark.update(job.p99_recent, p99Target(slo), `p99 of the last 15 minutes, now ${text(duration(job.p99_ms))}`);
    setText(this.backlog, Number.isFinite(job.backlog_rows) ? `${text(count(job.backlog_rows))} rows` : NOTHING);
    this.#showIncidents(job);
    this.#showTags(job.tags ?? []);
    this.#showTechniques(job.techniques ?? []);
    this.#showCollector(job.collector);
  }

  tick(nowMs) {
    const silentMs = nowMs - this.job.last_seen_ms;
    // Of a job that runs, a second more or less is no news; that its numbers are not its usual ones is.
    const told = this.job.warming_up ? "warming up" : "";
    setText(this.since, this.job.state === "running" ? told : `${age(silentMs)} ago`);
  }

  #showLatency(job) {
    const ratio = sloRatio(job);
    const batch = job.p99_source === "batch" ? " by batch" : "";
    setText(this.p99, `${text(duration(job.p99_ms))}${Number.isFinite(job.p99_ms) ? batch : ""}`);
    setText(this.against, job.slo ? `of ${targetOf(job.slo)}` : "");
    this.node.classList.toggle("violated", violates(job));
    this.bar.hidden = ratio === null || isOver(job);
    // The mark in the middle is the SLO, the end of the bar twice that.
    this.bar.firstElementChild.style.width = `${Math.min(100, (ratio ?? 0) * 50)}%`;
  }

  #showCollector(collector) {
    const lost = losses(collector);
    const late = this.#lateness.told(collector?.late, performance.now());
    setText(this.collector, collector ? (lost ? "losses" : late ? "late" : "ok") : NOTHING);
    this.collector.title = [lost, lateParts(collector)].filter(Boolean).join("; ");
    this.collector.classList.toggle("warn", lost !== "" || late);
  }

  #showIncidents({ open_incidents: open, incidents_last_hour: hour, watched, state }) {
    // For a job that detection has not seen lately, "no incident" would say nothing.
    const unknown = state === "running" && watched === false ? "no data" : "";
    const counted = open ? `${hour}, ${open} open` : hour || !unknown ? String(hour) : "";
    setText(this.incidents, hour === undefined ? NOTHING : [counted, unknown].filter(Boolean).join(", "));
    this.incidents.title = unknown && "Detection has not seen the last 10 s of this job";
    this.incidents.classList.toggle("open", open > 0);
  }

  #showTags(tags) {
    const told = tags.join("\n");
    if (told === this.#tags) return;
    this.#tags = told;
    this.tags.replaceChildren(
      ...tags.map((tag) => {
        const button = element("button", { type: "button", class: "tag", title: `Only jobs tagged ${tag}` }, tag);
        button.addEventListener("click", () => this.onTag(tag));
        return button;
      }),
    );
  }

  #showTechniques(techniques) {
    const told = JSON.stringify(techniques);
    if (told === this.#techniques) return;
    this.#techniques = told;
    const active = techniques.filter(({ mode }) => mode !== "off");
    if (active.length === 0) {
      this.techniques.replaceChildren("off");
      return;
    }
    this.techniques.replaceChildren(
      ...active.map(({ title, mode, state }) =>
        element("span", { class: "technique", "data-mode": mode, "data-state": state }, `${title}: ${mode}${state === "applied" ? "" : `, ${state}`}`),
      ),
    );
  }
}

// The line of the p99 drawn: other statistics have another height.
function p99Target(slo) {
  const { latency } = slo?.objective ?? {};
  return latency?.statistic === "p99" ? latency.threshold_ms : null;
}

function targetOf({ objective: { latency, juice } }) {
  return latency ? text(duration(latency.threshold_ms)) : `${Math.round(juice.threshold * 1000) / 10} % of the input`;
}

// The label is what a card shows in place of the column's head.
function cell(label, kind, ...children) {
  return element("td", { class: kind, role: "cell", "data-label": label }, ...children);
}
