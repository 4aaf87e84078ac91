/** One job as a table row, kept and updated in place, so that focus and selection survive. */

import { jobUrl } from "./api.js";
import { element, setText } from "./dom.js";
import { age, NOTHING } from "./format.js";
import { dayTime } from "./times.js";

export class JobRow {
  constructor(job) {
    this.job = job;
    this.word = element("span");
    this.state = element("span", { class: "state" }, element("span", { class: "dot", "aria-hidden": "true" }), this.word);
    this.lastFrame = cell("Last frame", "number");
    this.started = cell("Run started", "number");
    this.spark = cell("Spark", "number");
    this.driver = cell("Driver host", "break");
    const link = element(
      "a",
      { href: jobUrl(job.id) },
      job.application,
      element("span", { class: "slash" }, " / "),
      element("strong", {}, job.query),
    );
    this.node = element(
      "tr",
      {},
      element("td", { class: "state-cell" }, this.state),
      element("th", { scope: "row", class: "break" }, link),
      this.lastFrame.node,
      this.started.node,
      this.spark.node,
      this.driver.node,
    );
  }

  update(job, zone) {
    this.job = job;
    const run = job.run;
    this.node.dataset.state = job.state;
    setText(this.word, job.state);
    setText(this.started.value, run ? dayTime(run.started_ms, zone) : NOTHING);
    setText(this.spark.value, run?.spark_version || NOTHING);
    setText(this.driver.value, run?.driver_host || NOTHING);
    this.state.title = run?.end_reason ?? "";
  }

  tick(nowMs) {
    setText(this.lastFrame.value, `${age(nowMs - this.job.last_seen_ms)} ago`);
  }

  matches(words) {
    const run = this.job.run;
    const text = [this.job.application, this.job.query, this.job.id, this.job.state, run?.driver_host, run?.spark_version]
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  }
}

// The label is what a card shows in place of the column's head.
function cell(label, kind) {
  const value = element("span");
  return { value, node: element("td", { class: kind, "data-label": label }, value) };
}
