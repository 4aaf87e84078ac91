/** Which zone times are shown in: the browser's own, or UTC. */

import { recall, remember } from "./remember.js";

const listeners = new Set();
let zone = recall("zone", ["local", "utc"], "local");

export function chosenZone() {
  return zone;
}

export function chooseZone(next) {
  zone = next;
  remember("zone", next);
  for (const listener of listeners) listener(next);
}

export function onZone(listener) {
  listeners.add(listener);
}
