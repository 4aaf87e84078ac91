/** Where a cluster's state machine is, in words: `techniques/slo/states.py` has what follows from what. */

import { age, NOTHING } from "../core/format.js";

const STATES = {
  starting: ["Starting", "no job with an SLO has been measured yet", "quiet"],
  "not converged": ["Not converged", "looking for the next job to help", "quiet"],
  settling: ["Waiting", "for utilities to settle after the last action", "quiet"],
  watching: ["Watching", "all SLOs are met; does that last?", "good"],
  converged: ["Converged", "nothing more would help now", "good"],
  blind: ["Waiting for data", "of some job there is none, so nothing is done", "warn"],
  collecting: ["Collecting", "data is back; nothing is done before there is enough of it", "warn"],
};
// Advice is what the machine would do first, over and over: it is in no state for long.
const ADVICE = {
  settling: "the newest of the list is what it would do now",
  watching: "all SLOs are met, so it would do nothing now",
  converged: "nothing that it could do would help now",
};

export function stateName(state, mode) {
  if (mode === "off") return "Off";
  if (mode === "advise") return "Advising";
  return STATES[state]?.[0] ?? NOTHING;
}

/** {word, detail, tone}: what a person wants to know first. */
export function stateWords({ state, mode, jobs, since_ms: sinceMs, now_ms: nowMs }) {
  const word = stateName(state, mode);
  if (mode === "off") return { word, detail: "the technique is switched on for none of its jobs", tone: "quiet" };
  const [, usually, tone] = STATES[state] ?? ["", "nothing is known of it yet", "quiet"];
  if (mode === "advise") return { word, detail: `nothing is changed; ${ADVICE[state] ?? usually}`, tone: "quiet" };
  const allMet = jobs.every(({ objective, met }) => !objective || met);
  const detail = state === "converged" && allMet ? "all SLOs are met" : usually;
  const since = sinceMs ? ` · for\u00a0${age(nowMs - sinceMs).replaceAll(" ", "\u00a0")}` : "";
  return { word, detail: `${detail}${since}`, tone };
}

export function sizeWords(size) {
  return size === null || size === undefined ? "not set" : `${size}\u00a0units`;
}
