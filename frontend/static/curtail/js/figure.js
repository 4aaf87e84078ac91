/** The Plotly figure for a ring and a time range: data and layout, no drawing. */

import { timeMarks } from "./axes.js";
import { bucketLength, reduce } from "./downsample.js";
import { PANELS } from "./panels.js";
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
// Between panels there is room for the title of the lower one.
const BETWEEN_PX = 30;

export function figure(picture) {
  const { ring, range, width } = picture;
  const [startMs, endMs] = range;
  // A gap's length more on either side, so that lines run out of the picture.
  const shape = {
    ...ring.span(startMs - GAP_MS, endMs + GAP_MS),
    windowMs: ring.windowMs,
    bucketMs: bucketLength(endMs - startMs, Math.min(BUCKETS, width - MARGIN.l - MARGIN.r), ring.windowMs),
    gapMs: GAP_MS,
  };
  const drawn = PANELS.map((panel, place) => drawPanel(panel, place, shape, picture));
  return {
    data: drawn.flatMap(({ data }) => data),
    layout: { ...layout(picture, drawn), shapes: drawn.flatMap(({ shapes }) => shapes) },
  };
}

function drawPanel(panel, place, shape, { ring, intervals, range, hidden, colours }) {
  const axis = axisName(place);
  // A panel without a trace is not drawn: one that shows nothing keeps it in its place.
  const data = [line({ x: [null], y: [null] }, { axis })];
  const shapes = [];
  const extent = { low: Infinity, high: -Infinity };
  if (panel.stems) {
    const stems = panel.stems(intervals, range);
    for (const { start_ms, end_ms } of stems) stretch(extent, { x: [start_ms], y: [end_ms - start_ms] }, range);
    shapes.push(stemPath(stems, panel.colour(colours), axis));
  } else {
    for (const { key, at, look } of panel.series(ring, colours)) {
      if (hidden.has(key)) continue;
      const series = reduce(at, shape);
      stretch(extent, series, range);
      data.push(line(series, { ...look, axis }));
      const dotted = panel.dotted && series.x.length <= DOTTED_POINTS;
      shapes.push(dots(dotted ? series : series.lone, { ...look, axis }));
    }
  }
  return { panel, extent, data, shapes: shapes.filter(Boolean) };
}

function axisName(place) {
  return place === 0 ? "y" : `y${place + 1}`;
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

// One upright line per interval, as high as it was long: a short pause stays visible at any zoom.
function stemPath(intervals, colour, axis) {
  const path = intervals.map(({ start_ms, end_ms }) => `M${start_ms},0L${start_ms},${end_ms - start_ms}`).join("");
  return path && { type: "path", path, xref: "x", yref: axis, line: { color: colour, width: 1.5 } };
}

function stretch(extent, { x, y }, [startMs, endMs]) {
  for (let i = 0; i < x.length; i += 1) {
    if (y[i] === null || x[i] < startMs || x[i] > endMs) continue;
    if (y[i] < extent.low) extent.low = y[i];
    if (y[i] > extent.high) extent.high = y[i];
  }
}

function layout({ range, scale, zone, colours, width, height }, drawn) {
  const times = timeMarks(range, Math.max(3, (width - MARGIN.l - MARGIN.r) / PX_PER_TIME_MARK), zone);
  const axis = {
    gridcolor: colours.hairline,
    gridwidth: 1,
    zeroline: false,
    showline: false,
    ticks: "",
    tickmode: "array",
    tickfont: { color: colours.muted, size: 12 },
  };
  const axes = {};
  const annotations = [];
  domains(height).forEach((domain, place) => {
    const { panel, extent } = drawn[place];
    const { type, range: shown, values, labels } = panel.axis(extent, scale);
    const name = axisName(place).replace("y", "yaxis");
    axes[name] = { ...axis, domain, fixedrange: true, type, range: shown, tickvals: values, ticktext: labels };
    const nothing = extent.high === -Infinity && panel.absent;
    annotations.push(panelTitle(nothing ? `${panel.title} — ${panel.absent}` : panel.title, `${axisName(place)} domain`, colours));
  });
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
      anchor: axisName(PANELS.length - 1),
      range: [...range],
      tickvals: times.values,
      ticktext: times.labels,
      title: { text: zoneName(range[1], zone), font: { color: colours.muted, size: 12 }, standoff: 4 },
    },
    ...axes,
    annotations,
  };
}

/** The vertical share of each panel, from the top, as Plotly counts it: from the bottom. */
function domains(height) {
  const inner = height - MARGIN.t - MARGIN.b;
  const gap = BETWEEN_PX / inner;
  const free = 1 - gap * (PANELS.length - 1);
  const weights = PANELS.reduce((sum, { weight }) => sum + weight, 0);
  let top = 1;
  return PANELS.map(({ weight }) => {
    const bottom = Math.max(0, top - (free * weight) / weights);
    const domain = [bottom, top];
    top = bottom - gap;
    return domain;
  });
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
