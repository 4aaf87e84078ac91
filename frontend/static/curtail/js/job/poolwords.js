/** What governs an operator pool now, in sentences: who gets a chunk, what is sent again, who sends first. */

import { count, duration, percent, text, tick } from "../core/format.js";

const POLICIES = {
  "round-robin": "Each instance gets a chunk in turn, whatever waits there",
  "fewest-queued": "A chunk goes to the instance at which the fewest wait",
  "power-of-two": "A chunk goes to the shorter queue of two drawn at random",
  "latency-weighted": "Instances get chunks by weight: the slower one answers, the fewer it gets",
  "shared-queue": "All instances of an operator draw from one queue",
};

/** `pool` as poolstats.js gives it → [{says, by}]: a sentence, and the name that cards and papers have for it. */
export function rules(pool, current) {
  return [dispatch(pool), ...replay(pool, current), ...turns(pool)];
}

function dispatch({ policy, shared }) {
  const says = POLICIES[policy] ?? "Chunks are handed out";
  const waiting = shared === null || policy !== "shared-queue" ? "" : `, in which ${amount(shared, "chunk")} ${shared === 1 ? "waits" : "wait"}`;
  return { says: `${says}${waiting}.`, by: `policy ${policy}` };
}

function replay({ replay: mode, timeout, replays }, current) {
  if (mode === "off" && !replays?.sentAgain) return [];
  return [{ says: [again(mode, timeout), replays && price(replays, current)].filter(Boolean).join(" "), by: BY[mode] ?? `replay ${mode}` }];
}

function price({ chunks, sentAgain, won, cost }, current) {
  const minute = current ? "the last minute" : "the minute before";
  if (!sentAgain) return `In ${minute}: none of ${amount(chunks, "chunk")}.`;
  return `In ${minute}: ${text(count(sentAgain))} of ${amount(chunks, "chunk")}, a cost of ${text(percent(cost))}; ${won === 1 ? "1 copy" : `${text(count(won))} copies`} came back first.`;
}

const BY = { off: "replay off", adaptive: "adaptive timeout", hedge: "hedge at p95", blind: "blind replication" };

function again(mode, timeout) {
  if (mode === "off") return "No chunk is sent again any more.";
  if (mode === "blind") return "Some chunks are sent to two instances at once.";
  if (timeout === null) return "A chunk that takes too long is sent again, once; how long that is, is being measured.";
  return `A chunk older than ${text(duration(timeout))} is sent again, once, to another instance.`;
}

function turns({ tau_ms: tauMs }) {
  if (!(tauMs > 0)) return [];
  return [{ says: `Every ${tick(tauMs)} the one with the most to send on is chosen, and only it sends.`, by: "largest backlog first" }];
}

/** 1 → "1 chunk"; 1234 → "1.23 k chunks" */
export function amount(number, noun) {
  return `${text(count(number))} ${noun}${number === 1 ? "" : "s"}`;
}
