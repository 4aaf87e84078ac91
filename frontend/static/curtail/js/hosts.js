/** Which colour and dash a host has: the first come keeps its own for as long as the page is open. */

import { HOST_COLOURS } from "./palette.js";

const DASHES = ["solid", "dash", "dot"];
const places = new Map();

export function placeOf(host) {
  if (!places.has(host)) places.set(host, firstFree());
  const place = places.get(host);
  return { colour: place % HOST_COLOURS, dash: DASHES[Math.floor(place / HOST_COLOURS) % DASHES.length] };
}

/** Hosts that are gone give their colour back. */
export function keepOnly(hosts) {
  for (const host of places.keys()) if (!hosts.includes(host)) places.delete(host);
}

function firstFree() {
  const taken = new Set(places.values());
  let place = 0;
  while (taken.has(place)) place += 1;
  return place;
}
