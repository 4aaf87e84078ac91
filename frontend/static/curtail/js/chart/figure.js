/** The figure for a ring and a time range: its lines in pixels and Plotly's layout, no drawing. */

import { timeMarks } from "./axes.js";
import { bucketLength, reduce } from "./downsample.js";
import { LANES_BELOW_MS, lanesPx } from "./lanes.js";
import { presentIn } from "./panels.js";
import { HEAD_PX, stack, toPixels } from "./stack.js";
import { zoneName } from "../core/times.js";

// Two points of each are kept. A low panel looks the same with half as many.
const BUCKETS = 700;
const BUCKETS_LOW = 350;
const LOW_PX = 100;
// A 1 s micro-batch leaves up to 0.95 s without records; what is further apart is not joined.
const GAP_MS = 1500;
// Beyond this many points the dots run into each other.
const DOTTED_POINTS = 420;
const PX_PER_TIME_MARK = 96;
const PX_PER_LABEL = 13;
const LEAST_PX = 1.5;

/** Incidents are marked in the strip above the first panel's heading. */
export const MARKS_PX = 16;

export function margins(width) {
  const narrow = width < 560;
  return { l: narrow ? 56 : 62, r: narrow ? 10 : 24, t: MARKS_PX + HEAD_PX, b: 40 };
}

/**
 * → {lines, dots: [{x, y, look}], layout, frame, heads: [{title, note, items, topPx}]}
 *
 * x in epoch milliseconds; y in pixels from the bottom, as all panels share one axis (stack.js).
 * A picture may name the `panels` it wants; without, it has all of them.
 */
export function figure(picture) {
  const margin = margins(picture.width);
  const innerPx = picture.width - margin.l - margin.r;
  const drawn = presentIn(picture, picture.panels).map((panel) => contents(panel, { ...picture, innerPx }));
  const { total, places } = stack(drawn.map(({ px }) => px));
  const made = { lines: [], dots: [], marks: [] };
  drawn.forEach((panel, i) => {
    if (panel.lanes) addLanes(panel.lanes, places[i], picture.range, innerPx, made);
    else addValues(panel, places[i], made);
  });
  return {
    lines: made.lines,
    dots: made.dots,
    layout: layout(picture, { margin, innerPx, total, marks: made.marks }),
    frame: { width: picture.width, height: margin.t + total + margin.b, margin, total },
    heads: drawn.map(({ title, note, items }, i) => {
      const topPx = margin.t + total - places[i].bottom - places[i].px - HEAD_PX;
      return { title, note, items, topPx };
    }),
  };
}

function contents(panel, picture) {
  const [startMs, endMs] = picture.range;
  if (panel.lanes && endMs - startMs <= LANES_BELOW_MS) {
    const lanes = panel.lanes(picture).filter(({ key }) => !picture.hidden.has(key));
    const items = panel.lanesNamed ? allOf(panel, picture) : [];
    if (lanes.length) return { title: panel.lanesTitle, note: "", items, lanes, px: lanesPx(lanes.length) };
  }
  const found = panel.stems ? stemsOf(panel, picture) : seriesOf(panel, picture);
  const extent = { low: Infinity, high: -Infinity };
  for (const { y, x } of found.drawn) stretch(extent, x, y, picture.range);
  const nothing = extent.high === -Infinity && found.drawn.length === found.all.length;
  const note = nothing && picture.state === "there" ? panel.absent : "";
  const axis = panel.axis(extent, picture.scale);
  return {
    title: panel.title,
    note,
    items: nothing ? [] : found.all,
    drawn: found.drawn,
    dotted: panel.dotted,
    px: panel.px,
    // Where there is nothing to read, a scale would be made up.
    axis: note ? { ...axis, values: [], labels: [] } : axis,
  };
}

function allOf(panel, picture) {
  return panel.stems ? stemsOf(panel, picture).all : panel.series(picture);
}

function seriesOf(panel, picture) {
  const { ring, range: [startMs, endMs], hidden, innerPx } = picture;
  // Steps that follow each other are joined; a step that is missing is a hole.
  const gapMs = ring.stepped ? 1.5 * ring.windowMs : (panel.gapMs ?? GAP_MS);
  // A gap's length more on either side, so that lines run out of the picture.
  const shape = {
    ...ring.span(startMs - gapMs, endMs + gapMs),
    windowMs: ring.windowMs,
    bucketMs: bucketLength(endMs - startMs, Math.min(panel.px > LOW_PX ? BUCKETS : BUCKETS_LOW, innerPx), ring.windowMs),
    gapMs,
  };
  const all = panel.series(picture);
  const drawn = all
    .filter(({ key }) => !hidden.has(key))
    .map(({ at, look }) => ({ ...reduce(at, shape), look }));
  return { all, drawn };
}

function stemsOf(panel, picture) {
  const { range: [startMs, endMs], hidden, innerPx } = picture;
  const all = panel.stems(picture);
  const drawn = all
    .filter(({ key }) => !hidden.has(key))
    .map(({ items, look }) => ({ ...stems(items, (endMs - startMs) / innerPx), look }));
  return { all: all.map((series) => ({ ...series, read: null })), drawn };
}

// One upright line per interval: a short pause stays visible at any zoom. Of those that would fall
// on the same pixel, the one that reaches highest stays.
function stems(items, msPerPx) {
  const kept = new Map();
  for (const item of items) {
    const pixel = Math.floor(item.atMs / msPerPx);
    if (!(kept.get(pixel)?.to >= item.to)) kept.set(pixel, item);
  }
  const x = [];
  const y = [];
  for (const { atMs, from, to } of kept.values()) {
    x.push(atMs, atMs, null);
    y.push(from, to, null);
  }
  return { x, y, lone: { x: [], y: [] } };
}

function addValues({ drawn, dotted, axis }, place, { lines, dots, marks }) {
  const px = toPixels(place, axis);
  axis.values.forEach((value, i) => marks.push([px(value), axis.labels[i]]));
  for (const { x, y, lone, look } of drawn) {
    const points = { x, y: y.map(px), look };
    if (!look.marker) lines.push(points);
    dots.push(look.marker || (dotted && !look.plain && x.length <= DOTTED_POINTS) ? points : { x: lone.x, y: lone.y.map(px), look });
  }
}

function addLanes(lanes, { bottom, px }, [startMs, endMs], innerPx, { lines, marks }) {
  // However short, an interval is seen.
  const leastMs = (LEAST_PX * (endMs - startMs)) / innerPx;
  const pitch = px / lanes.length;
  const every = Math.ceil(PX_PER_LABEL / pitch);
  lanes.forEach(({ label, parts, ...whole }, i) => {
    const at = bottom + px - (i + 0.5) * pitch;
    if (i % every === 0) marks.push([at, label]);
    for (const { look, items } of parts ?? [whole]) {
      lines.push({
        x: items.flatMap(([fromMs, toMs]) => [fromMs, Math.max(toMs, fromMs + leastMs), null]),
        y: items.flatMap(() => [at, at, null]),
        look,
      });
    }
  });
}

function stretch(extent, x, y, [startMs, endMs]) {
  for (let i = 0; i < x.length; i += 1) {
    if (y[i] === null || x[i] < startMs || x[i] > endMs) continue;
    if (y[i] < extent.low) extent.low = y[i];
    if (y[i] > extent.high) extent.high = y[i];
  }
}

function layout({ range, zone, colours, width }, { margin, innerPx, total, marks }) {
  const times = timeMarks(range, Math.max(3, innerPx / PX_PER_TIME_MARK), zone);
  marks.sort(([a], [b]) => a - b);
  const axis = {
    // Numbers, not dates: Plotly knows no zones, and moves dates by the browser's offset.
    type: "linear",
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
    height: margin.t + total + margin.b,
    margin: { ...margin, pad: 4 },
    font: { family: colours.font, color: colours.ink, size: 12 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    // The headings read out the exact windows; Plotly's labels would show reduced points.
    hovermode: false,
    dragmode: coarse() ? false : "zoom",
    xaxis: {
      ...axis,
      range: [...range],
      tickvals: times.values,
      ticktext: times.labels,
      title: { text: zoneName(range[1], zone), font: { color: colours.muted, size: 12 }, standoff: 4 },
    },
    yaxis: {
      ...axis,
      range: [0, total],
      fixedrange: true,
      tickvals: marks.map(([at]) => at),
      ticktext: marks.map(([, label]) => label),
    },
  };
}

// A finger that lands on the chart wants to scroll the page.
function coarse() {
  return window.matchMedia("(pointer: coarse)").matches;
}
