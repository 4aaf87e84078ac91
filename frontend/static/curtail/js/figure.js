/** The Plotly figure for a ring and a time range: data and layout, no drawing. */

import { latencyAxis, timeMarks } from "./axes.js";
import { bucketLength, reduce } from "./downsample.js";
import { placeOf } from "./hosts.js";
import { PERCENTILES } from "./ring.js";
import { zoneName } from "./times.js";

export const PERCENTILE_NAMES = { p50: "p50", p90: "p90", p99: "p99", p999: "p99.9" };
export const MARGIN = { l: 62, r: 32, t: 24, b: 40 };

const BUCKETS = 700;
// A 1 s micro-batch leaves up to 0.95 s without records; what is further apart is not joined.
const GAP_MS = 1500;
// Beyond this many points the dots run into each other.
const DOTTED_POINTS = 420;
const DOT_PX = 4;
const PX_PER_TIME_MARK = 96;

export function figure({ ring, range, scale, zone, hidden, colours, width, height }) {
  const [startMs, endMs] = range;
  // A gap's length more on either side, so that lines run out of the picture.
  const shape = {
    ...ring.span(startMs - GAP_MS, endMs + GAP_MS),
    windowMs: ring.windowMs,
    bucketMs: bucketLength(endMs - startMs, Math.min(BUCKETS, width - MARGIN.l - MARGIN.r), ring.windowMs),
    gapMs: GAP_MS,
  };
  // A panel without a trace is not drawn: one that shows nothing keeps it in its place.
  const data = ["y", "y2"].map((axis) => line({ x: [null], y: [null] }, { axis }));
  const shapes = [];
  const extent = { low: Infinity, high: -Infinity };
  for (const name of PERCENTILES) {
    if (hidden.has(name)) continue;
    const series = reduce((number) => ring.value(name, number), shape);
    const look = { colour: colours[name], axis: "y", width: 1.5 };
    stretch(extent, series, range);
    data.push(line(series, look));
    shapes.push(dots(series.x.length <= DOTTED_POINTS ? series : series.lone, look));
  }
  for (const host of ring.hosts) {
    if (hidden.has(host)) continue;
    const series = reduce((number) => ring.cpuOf(host, number), shape);
    const { colour, dash } = placeOf(host);
    const look = { colour: colours.hosts[colour], axis: "y2", width: 1.25, dash, opacity: 0.8 };
    data.push(line(series, look));
    shapes.push(dots(series.lone, look));
  }
  const axes = layout({ range, scale, zone, colours, width, height, extent });
  return { data, layout: { ...axes, shapes: shapes.filter(Boolean) } };
}

function line({ x, y }, { colour, axis, width, dash = "solid", opacity = 1 }) {
  return {
    type: "scatter",
    mode: "lines",
    x,
    y,
    xaxis: "x",
    yaxis: axis,
    hoverinfo: "skip",
    opacity,
    // Already reduced: Plotly's own simplification has nothing left to leave out.
    line: { color: colour, width, dash, simplify: false },
  };
}

// Plotly's markers are one element each, more than a thousand per redraw. A line of no length with
// round ends (plotly.css) is a dot as well, and all dots of a series are one path.
function dots({ x, y }, { colour, axis }) {
  let path = "";
  for (let i = 0; i < x.length; i += 1) {
    if (y[i] !== null) path += `M${x[i]},${y[i]}L${x[i]},${y[i]}`;
  }
  return path && { type: "path", path, xref: "x", yref: axis, line: { color: colour, width: DOT_PX } };
}

function stretch(extent, { x, y }, [startMs, endMs]) {
  for (let i = 0; i < x.length; i += 1) {
    if (y[i] === null || x[i] < startMs || x[i] > endMs) continue;
    if (y[i] < extent.low) extent.low = y[i];
    if (y[i] > extent.high) extent.high = y[i];
  }
}

function layout({ range, scale, zone, colours, width, height, extent }) {
  const times = timeMarks(range, Math.max(3, (width - MARGIN.l - MARGIN.r) / PX_PER_TIME_MARK), zone);
  const latency = latencyAxis(extent.low, extent.high, scale);
  const axis = {
    gridcolor: colours.hairline,
    gridwidth: 1,
    zeroline: false,
    showline: false,
    ticks: "",
    tickmode: "array",
    tickfont: { color: colours.muted, size: 12 },
  };
  return {
    width,
    height,
    margin: { ...MARGIN, pad: 4 },
    font: { family: colours.font, color: colours.ink, size: 12 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    // The legend rows read out the exact windows; Plotly's labels would show reduced points.
    hovermode: false,
    dragmode: coarse() ? false : "zoom",
    xaxis: {
      ...axis,
      // Numbers, not dates: Plotly knows no zones, and moves dates by the browser's offset.
      type: "linear",
      anchor: "y2",
      range: [...range],
      tickvals: times.values,
      ticktext: times.labels,
      title: { text: zoneName(range[1], zone), font: { color: colours.muted, size: 12 }, standoff: 4 },
    },
    yaxis: {
      ...axis,
      domain: [0.38, 1],
      fixedrange: true,
      type: latency.type,
      range: latency.range,
      tickvals: latency.values,
      ticktext: latency.labels,
    },
    yaxis2: {
      ...axis,
      domain: [0, 0.28],
      fixedrange: true,
      range: [0, 103],
      tickvals: [0, 50, 100],
      ticktext: ["0", "50 %", "100 %"],
    },
    annotations: [
      panelTitle("Latency", "y domain", colours),
      panelTitle("Host CPU", "y2 domain", colours),
    ],
  };
}

function panelTitle(text, yref, colours) {
  return {
    text,
    xref: "paper",
    x: 0,
    xanchor: "left",
    yref,
    y: 1,
    yanchor: "bottom",
    showarrow: false,
    font: { color: colours.muted, size: 12 },
  };
}

// A finger that lands on the chart wants to scroll the page.
function coarse() {
  return window.matchMedia("(pointer: coarse)").matches;
}
