/**
 * What the page says about its data. It must never look healthy while none comes: whatever else
 * is going on, a lost connection or a silent job is in the words.
 */

import { age } from "../core/format.js";

export const SILENT_AFTER_MS = 5000;
const OVER = { stopped: "Stopped", ended: "Ended", failed: "Failed" };

/** → {state: live|paused|reconnecting|behind|stale, word, detail, tone: quiet|good|warn} */
export function pageStatus({ connection, downForMs, paused, jobState, lastMs, nowMs }) {
  const trouble = connectionTrouble(connection, downForMs) ?? silence(jobState, lastMs, nowMs);
  if (paused) {
    const detail = trouble ? [trouble.word, trouble.detail].filter(Boolean).join(" ") : "";
    return { state: "paused", word: "Paused", detail, tone: trouble?.tone ?? "quiet" };
  }
  if (trouble) return trouble;
  if (connection === "behind") {
    return { state: "behind", word: "Behind", detail: "fetching what was skipped", tone: "warn" };
  }
  return { state: "live", word: "Live", detail: "", tone: "good" };
}

function connectionTrouble(connection, downForMs) {
  if (connection === "reconnecting") {
    return { state: "reconnecting", word: "Reconnecting", detail: `for ${age(downForMs)}`, tone: "warn" };
  }
  // The first moments of a page are not a fault yet.
  if (connection === "connecting") {
    const slow = downForMs > SILENT_AFTER_MS;
    return {
      state: "reconnecting",
      word: "Connecting",
      detail: slow ? `for ${age(downForMs)}` : "",
      tone: slow ? "warn" : "quiet",
    };
  }
  return null;
}

function silence(jobState, lastMs, nowMs) {
  if (lastMs === null) {
    return { state: "stale", word: "No frames", detail: "in the last 15 min", tone: "warn" };
  }
  const silentMs = nowMs - lastMs;
  if (silentMs <= SILENT_AFTER_MS) return null;
  if (OVER[jobState]) {
    return { state: "stale", word: OVER[jobState], detail: `last frame ${age(silentMs)} ago`, tone: "quiet" };
  }
  return { state: "stale", word: "No frames", detail: `for ${age(silentMs)}`, tone: "warn" };
}
