/** The panels of a cluster's chart: utility of all jobs against its maximum, then that of each job. */

import { utility as told } from "../slo/objective.js";

const TOTAL_PX = 180;
const JOB_PX = 44;
// With more jobs than these a panel has to do with less.
const MANY_JOBS = 20;
const LOW_JOB_PX = 26;

/** `jobs`: [{id, title, words, most, actions: [{at_ms}]}], in the order of their panels. */
export function clusterPanels(jobs) {
  return [
    {
      id: "total",
      title: "Utility of all jobs",
      px: TOTAL_PX,
      steps: true,
      series: ({ ring }) => [
        { key: "total", name: "utility", at: (number) => ring.at("total", number), read: told, look: { colour: "accent", width: 1.75 } },
        { key: "most", name: "maximum", at: (number) => ring.at("most", number), read: told, look: { colour: "muted", width: 1.25, dash: "dash" } },
      ],
      axis: ({ high }) => axis(high > 0 ? high : 1, [0, 0.5, 1]),
      absent: "no utility is known yet",
    },
    ...jobs.map((job) => jobPanel(job, jobs.length > MANY_JOBS ? LOW_JOB_PX : JOB_PX)),
  ];
}

function jobPanel({ id, title, words, most, actions }, px) {
  return {
    id,
    title,
    px,
    steps: true,
    series: ({ ring }) => [
      { key: `utility ${id} ${words}`, name: words, at: (number) => ring.at(`job ${id}`, number), read: told, look: { colour: "accent", width: 1.5 } },
      ...(actions.length ? [actionSeries(ring, id, actions)] : []),
    ],
    // Up to what it can be: how much is missing is the empty part of the panel.
    axis: () => axis(most, [0, 1]),
    absent: "nothing measured yet",
  };
}

// On the line, or where there is none at the bottom.
function actionSeries(ring, id, actions) {
  const numbers = new Set(actions.map(({ at_ms: ms }) => Math.floor(ms / ring.windowMs)));
  return {
    key: `actions ${id}`,
    name: actions.length === 1 ? "1 action" : `${actions.length} actions`,
    at: (number) => (numbers.has(number) ? ring.at(`job ${id}`, number) || 0 : NaN),
    read: () => "",
    look: { colour: "ink", marker: true },
  };
}

function axis(top, parts) {
  const values = parts.map((part) => part * top);
  return { type: "linear", range: [0, top * 1.06], values, labels: values.map(told) };
}
