/** Where a cluster's state machine is, in words. */

import { NOTHING } from "../core/format.js";

const STATES = {
  not_converged: ["Not converged", "looking for the next job to help"],
  settling: ["Waiting", "for utilities to settle after the last action"],
  watching: ["Watching", "all SLOs are met; converged if that lasts"],
  converged: ["Converged", "no action would help now"],
  no_data: ["Waiting", "for data: nothing is done without it"],
  collecting: ["Waiting", "data is back and is collected before anything is done"],
};

export function stateName(state, mode) {
  if (mode === "off") return "Off";
  return state in STATES ? STATES[state][0] : NOTHING;
}

/** {word, detail, tone}: what a person wants to know first. */
export function stateWords({ state, mode, because }) {
  if (mode === "off") return { word: "Off", detail: "the technique is not switched on for any of its jobs", tone: "quiet" };
  const [word, detail] = STATES[state] ?? [NOTHING, "nothing is known yet"];
  return { word, detail: because || detail, tone: state === "converged" ? "good" : ["no_data", "collecting"].includes(state) ? "warn" : "quiet" };
}

export function sizeWords(size) {
  return size === null || size === undefined ? "not set" : `${size}`;
}
