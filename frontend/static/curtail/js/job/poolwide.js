/** What operator pools have as a whole on the time axis: the shared queue, timeouts and replays. */

import { count, duration, text } from "../core/format.js";
import { shaded } from "./poolpanels.js";

const DASHES = ["solid", "dash", "dot"];

/** The queue that all instances of an operator draw from, where there is one. */
export function sharedSeries({ ring }) {
  return named(ring, ({ key }) => ring.holds("pool_shared", key)).map(({ key, of, dash }) => ({
    key: `shared ${of("")}`,
    name: of("shared queue"),
    at: (number) => ring.of("pool_shared", key, number),
    read: (value) => text(count(value)),
    look: { colour: "ink", width: 2, dash },
  }));
}

/** The same as a lane. */
export function sharedLanes({ ring, range }) {
  const { from, to } = ring.span(...range);
  return named(ring, ({ key }) => ring.holds("pool_shared", key)).map(({ key, of }) => {
    let full = 1;
    for (let number = from; number < to; number += 1) full = Math.max(full, ring.of("pool_shared", key, number) || 0);
    return { key: `shared ${of("")}`, label: "shared", parts: shaded(ring, "shared", { key }, { from, to, full }, { colour: "ink", width: 6 }) };
  });
}

export function replays({ ring }) {
  return ring.pools.all.some((pool) => isReplaying(ring, pool));
}

/** How old a chunk may get before it is sent again, and a marker in windows in which some were. */
export function timeoutSeries({ ring }) {
  return named(ring, (pool) => isReplaying(ring, pool)).flatMap(({ key, of, dash }) => [
    {
      key: `timeout ${of("")}`,
      name: of("timeout"),
      at: (number) => ring.of("pool_timeout", key, number),
      read: (value) => text(duration(value)),
      look: { colour: "host-3", width: 1.5, dash },
    },
    {
      key: `replayed ${of("")}`,
      name: of("chunks replayed"),
      // On the line; without a timeout (chunks are sent twice at once) at the bottom.
      at: (number) => (ring.of("pool_again", key, number) > 0 ? ring.of("pool_timeout", key, number) || 0 : NaN),
      read: (_, number) => text(count(ring.of("pool_again", key, number) || 0)),
      look: { colour: "host-6", marker: true },
    },
  ]);
}

function isReplaying(ring, { key, replay }) {
  return replay !== "off" || ring.holds("pool_timeout", key) || ring.holds("pool_again", key);
}

/** The pools for which `wanted` is true; `of` adds to a word whose it is where there are several. */
function named(ring, wanted) {
  const pools = ring.pools.all;
  return pools.filter(wanted).map(({ key, name, host }, i) => {
    const whose = pools.length > 1 ? `${name} on ${host}` : "";
    return { key, of: (word) => [word, whose].filter(Boolean).join(", "), dash: DASHES[i % DASHES.length] };
  });
}
