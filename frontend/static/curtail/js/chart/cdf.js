/**
 * Two distributions as a figure: latency across, share of records below it upwards.
 *
 * The upward axis counts nines (−log₁₀ of the share above), so that 99 % and 99.9 % have as much
 * room as the half: the tail is what is compared.
 */

import { latencyAxis } from "./axes.js";

const SHARES = [[0, "0"], [0.5, "50 %"], [0.9, "90 %"], [0.99, "99 %"], [0.999, "99.9 %"], [0.9999, "99.99 %"]];
const MOST_NINES = 4.3;

export function nines(share) {
  return share >= 1 ? MOST_NINES : Math.min(MOST_NINES, -Math.log10(1 - share));
}

export function cdfFigure({ a, b }, colours, width, height) {
  const lines = [
    { name: "A", cdf: a.cdf ?? [], colour: colours["host-6"], dash: "dash" },
    { name: "B", cdf: b.cdf ?? [], colour: colours.p99, dash: "solid" },
  ];
  const points = lines.flatMap(({ cdf }) => cdf);
  const values = points.map(([ms]) => ms).filter((ms) => ms > 0);
  const across = latencyAxis(Math.min(...values), Math.max(...values), "log");
  // No higher than the last record of either: beyond it there is nothing to see.
  const top = Math.max(2, ...points.filter(([, share]) => share < 1).map(([, share]) => nines(share))) + 0.15;
  const axis = { gridcolor: colours.hairline, zeroline: false, showline: false, ticks: "", tickmode: "array", tickfont: { color: colours.muted, size: 12 }, fixedrange: true };
  const marks = SHARES.filter(([share]) => nines(share) <= top);
  return {
    data: lines.map(({ name, cdf, colour, dash }) => ({
      type: "scatter",
      mode: "lines",
      name,
      x: cdf.map(([ms]) => ms),
      y: cdf.map(([, share]) => Math.min(top, nines(share))),
      line: { color: colour, width: 2, dash, shape: "hv" },
    })),
    layout: {
      width,
      height,
      margin: { l: 62, r: 12, t: 8, b: 40 },
      font: { family: colours.font, color: colours.ink, size: 12 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false,
      hovermode: false,
      annotations: [
        { text: "records at or below", xref: "paper", x: 0, xanchor: "left", xshift: 4, yref: "paper", y: 1, yanchor: "top", showarrow: false, font: { color: colours.muted, size: 12 } },
      ],
      xaxis: { ...axis, type: across.type, range: across.range, tickvals: across.values, ticktext: across.labels, title: { text: "latency", font: { color: colours.muted, size: 12 }, standoff: 4 } },
      yaxis: { ...axis, range: [0, top], tickvals: marks.map(([share]) => nines(share)), ticktext: marks.map(([, label]) => label) },
    },
  };
}
