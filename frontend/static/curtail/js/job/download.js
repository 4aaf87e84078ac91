/** What is shown, as a file: the windows as CSV from the server, the figure as PNG from here. */

import { apiUrl } from "../core/api.js";
import { dayTime, zoneName } from "../core/times.js";

const TITLE_PX = 40;
const SHARPNESS = 2;
const SWATCH_PX = 24;
const GAP_PX = 16;

export function csvUrl(jobPath, [startMs, endMs]) {
  return apiUrl(`${jobPath}/windows.csv?start_ms=${Math.floor(startMs)}&end_ms=${Math.ceil(endMs)}`);
}

/** "traffic-jam.ranking 2026-11-16T14.03.22Z": a name that any file system takes */
export function fileName(id, [startMs], ending) {
  const time = `${new Date(startMs).toISOString().slice(0, 19).replaceAll(":", ".")}Z`;
  return `${id.replaceAll(/[^\w.-]+/g, "_")} ${time}.${ending}`;
}

/**
 * The page's headings and marks are HTML; a picture needs them, the job and the range inside.
 *
 * `incidents` as the API gives them; of those in the range, their beginnings are marked.
 */
export function pictureOf({ lines, dots, layout, heads }, { job, range, zone, colours, hidden, incidents }) {
  const [startMs, endMs] = range;
  const when = `${dayTime(startMs, zone)} to ${dayTime(endMs, zone)} ${zoneName(endMs, zone)}`;
  const top = layout.margin.t;
  const headings = heads.map((head) => heading(head, top, colours, hidden));
  return {
    data: [...lines.map((line) => trace(line, colours)), ...dots.map((points) => markers(points, colours))],
    layout: {
      ...layout,
      height: layout.height + TITLE_PX,
      margin: { ...layout.margin, t: top + TITLE_PX },
      paper_bgcolor: colours.ground,
      annotations: [words(`${job} · ${when}`, 0, top + TITLE_PX - 12, 14, colours.ink), ...headings.flatMap(({ texts }) => texts)],
      shapes: [
        ...headings.flatMap(({ swatches }) => swatches),
        ...incidents.filter(({ onset_ms }) => onset_ms >= startMs && onset_ms <= endMs).map((incident) => mark(incident, colours)),
      ],
    },
  };
}

/** A panel's title, and a line and a name for every series that is drawn. */
function heading({ title, note, items, topPx }, top, colours, hidden) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `12px ${colours.font}`;
  const yshift = top - topPx - 6;
  const texts = [words(title, 0, yshift, 12, colours.ink)];
  const swatches = [];
  let x = pen.measureText(title).width + GAP_PX;
  if (note) texts.push(words(note, x, yshift, 12, colours.muted));
  for (const { key, name, look } of items) {
    if (hidden.has(key)) continue;
    swatches.push(swatch(x, yshift - 8, colours[look.colour], look.marker ? "dot" : look.dash));
    texts.push(words(name, x + SWATCH_PX + 6, yshift, 12, colours.muted));
    x += SWATCH_PX + 6 + pen.measureText(name).width + GAP_PX;
  }
  return { texts, swatches };
}

// Places are in pixels from the upper left corner of the panels.
function words(text, xshift, yshift, size, color) {
  return {
    text: text.replaceAll("<", "&lt;"),
    xref: "paper", x: 0, xanchor: "left", xshift, yref: "paper", y: 1, yanchor: "top", yshift,
    showarrow: false, borderpad: 0, font: { size, color },
  };
}

function swatch(x, y, color, dash = "solid") {
  return {
    type: "line", line: { color, width: 2, dash },
    xref: "paper", xsizemode: "pixel", xanchor: 0, x0: x, x1: x + SWATCH_PX,
    yref: "paper", ysizemode: "pixel", yanchor: 1, y0: y, y1: y,
  };
}

function mark({ onset_ms, state }, colours) {
  const color = state === "open" ? colours.red : colours.muted;
  return { type: "line", line: { color, width: 1, dash: "dash" }, xref: "x", x0: onset_ms, x1: onset_ms, yref: "paper", y0: 0, y1: 1 };
}

function trace({ x, y, look: { colour, width = 1, dash = "solid", opacity = 1 } }, colours) {
  return { type: "scatter", mode: "lines", x, y, opacity, line: { color: colours[colour], width, dash, simplify: false } };
}

function markers({ x, y, look: { colour, marker } }, colours) {
  return { type: "scatter", mode: "markers", x, y, marker: { color: colours[colour], size: marker ? 6 : 4 } };
}

export async function savePng(Plotly, picture, name) {
  const { width, height } = picture.layout;
  // As SVG: for a PNG, Plotly goes by a blob: address, which the content security policy refuses.
  const image = new Image();
  image.src = await Plotly.toImage(picture, { format: "svg", width, height });
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * SHARPNESS;
  canvas.height = height * SHARPNESS;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await new Promise((resolve) => canvas.toBlob(resolve, "image/png")));
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
