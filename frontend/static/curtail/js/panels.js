/** The panels of the job page, from top to bottom: what each shows, its share of the height. */

import { countAxis, latencyAxis, shareAxis, stemAxis } from "./axes.js";
import { placeOf } from "./hosts.js";
import { PERCENTILES } from "./ring.js";

/** Each gives `series(source, colours)`: [{key, at(number), look}], or `stems` for intervals. */
export const PANELS = [
  {
    title: "Latency",
    weight: 4,
    dotted: true,
    series: (ring, colours) =>
      PERCENTILES.map((name) => ({
        key: name,
        at: (number) => ring.value(name, number),
        look: { colour: colours[name], width: 1.5 },
      })),
    axis: ({ low, high }, scale) => latencyAxis(low, high, scale),
  },
  {
    title: "Host CPU",
    weight: 1.6,
    series: (ring, colours) =>
      ring.names("cpu").map((host) => {
        const { colour, dash } = placeOf(host);
        return {
          key: host,
          at: (number) => ring.of("cpu", host, number),
          look: { colour: colours.series[colour], width: 1.25, dash, opacity: 0.8 },
        };
      }),
    axis: shareAxis,
  },
  concurrency("Flushes at once", "flushes", "flush"),
  concurrency("Compactions at once", "compactions", "compaction"),
  {
    title: "GC pauses",
    weight: 1,
    stems: (intervals, [startMs, endMs]) => intervals.within("gc", startMs, endMs),
    colour: (colours) => colours.gc,
    axis: stemAxis,
  },
  {
    title: "Backlog, rows",
    absent: "the source does not say",
    weight: 1,
    series: (ring, colours) => [
      {
        key: "backlog",
        at: (number) => ring.value("backlog_rows", number),
        look: { colour: colours.ink, width: 1.25 },
      },
    ],
    axis: ({ high }) => countAxis(high),
  },
];

// Flush and compaction keep their two colours on every page; operators differ by dash.
const DASHES = ["solid", "dash", "dot", "dashdot"];

function concurrency(title, group, colourName) {
  return {
    title,
    absent: "RocksDB state stores tell, others do not",
    weight: 1.2,
    series: (ring, colours) =>
      ring.names(group).map((operator, place) => ({
        key: `${group} ${operator}`,
        at: (number) => ring.of(group, operator, number),
        look: { colour: colours[colourName], width: 1.25, dash: DASHES[place % DASHES.length] },
      })),
    axis: ({ high }) => countAxis(high),
  };
}
