/** Where a cluster's state machine is, in words: `techniques/slo/states.py` has what follows from what. */

import { age, NOTHING } from "../core/format.js";

const STATES = {
  starting: ["Starting", "no job with an SLO has been measured yet", "quiet"],
  "not converged": ["Not converged", "looking for the next job to help", "quiet"],
  settling: ["Waiting", "for utilities to settle after the last action", "quiet"],
  watching: ["Watching", "all SLOs are met; does that last?", "good"],
  converged: ["Converged", "nothing is to be done", "good"],
  blind: ["Waiting for data", "of some job there is none, so nothing is done", "warn"],
  collecting: ["Collecting", "data is back; nothing is done before there is enough of it", "warn"],
};

export function stateName(state, mode) {
  if (mode === "off") return "Off";
  return STATES[state]?.[0] ?? NOTHING;
}

/** {word, detail, tone}: what a person wants to know first. */
export function stateWords({ state, mode, since_ms: sinceMs, now_ms: nowMs }) {
  if (mode === "off") return { word: "Off", detail: "the technique is switched on for none of its jobs", tone: "quiet" };
  const [word, detail, tone] = STATES[state] ?? [NOTHING, "nothing is known of it yet", "quiet"];
  const since = sinceMs ? ` · for\u00a0${age(nowMs - sinceMs).replaceAll(" ", "\u00a0")}` : "";
  return { word, detail: `${detail}${since}`, tone };
}

export function sizeWords(size) {
  return size === null || size === undefined ? "not set" : `${size}\u00a0units`;
}
