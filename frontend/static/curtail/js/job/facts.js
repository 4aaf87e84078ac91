/** What is known of a job's present run, as a row of terms and values. */

import { element } from "../core/dom.js";
import { dayTime, zoneName } from "../core/times.js";

const WARMING_UP = "The run has just started: until its batches no longer get shorter, or for a minute, it has no incidents and is in no comparison";

/** `sure` is false while the server cannot be reached: the state is then the last one heard of. */
export function showFacts(root, job, zone, sure) {
  const run = job.run;
  const state = element(
    "span",
    { class: "state", "data-state": sure ? job.state : "unsure" },
    element("span", { class: "dot", "aria-hidden": "true" }),
    sure ? job.state : `was ${job.state}`,
    job.warming_up && sure ? element("span", { class: "muted", title: WARMING_UP }, "warming up") : "",
  );
  const facts = [["State", state]];
  if (run) {
    facts.push(["Run started", `${dayTime(run.started_ms, zone)} ${zoneName(run.started_ms, zone)}`]);
    if (run.ended_ms) facts.push(["Ended", `${dayTime(run.ended_ms, zone)} ${zoneName(run.ended_ms, zone)}`]);
    if (run.end_reason) facts.push(["Because", run.end_reason]);
    facts.push(["Spark", run.spark_version], ["Driver", run.driver_host], ["Application", run.application_id]);
  }
  root.replaceChildren(
    ...facts.map(([term, value]) => element("div", {}, element("dt", {}, term), element("dd", { class: "break" }, value))),
  );
}
