/** What is shown, as a file: the windows as CSV from the server, the figure as PNG from here. */

import { apiUrl } from "./api.js";
import { dayTime, zoneName } from "./times.js";

const TITLE_PX = 40;
const SHARPNESS = 2;

export function csvUrl(jobPath, [startMs, endMs]) {
  return apiUrl(`${jobPath}/windows.csv?start_ms=${Math.floor(startMs)}&end_ms=${Math.ceil(endMs)}`);
}

/** "traffic-jam.ranking 2026-11-16T14.03.22Z": a name that any file system takes */
export function fileName(id, [startMs], ending) {
  const time = `${new Date(startMs).toISOString().slice(0, 19).replaceAll(":", ".")}Z`;
  return `${id.replaceAll(/[^\w.-]+/g, "_")} ${time}.${ending}`;
}

/** The page's headings are HTML; a picture needs them, the job and the range inside. */
export function pictureOf({ lines, dots, layout, heads }, { job, range, zone, colours }) {
  const [startMs, endMs] = range;
  const when = `${dayTime(startMs, zone)} to ${dayTime(endMs, zone)} ${zoneName(endMs, zone)}`;
  const words = (text, yshift, size, color) => ({
    text: text.replaceAll("<", "&lt;"),
    xref: "paper", x: 0, xanchor: "left", yref: "paper", y: 1, yanchor: "top", yshift,
    showarrow: false, font: { size, color },
  });
  const named = heads.map(({ title, note, items, topPx }) => {
    const series = items.map(({ name }) => name).join(", ");
    return words([title, note || series].filter(Boolean).join(": "), layout.margin.t - topPx - 6, 12, colours.muted);
  });
  return {
    data: [...lines.map((line) => trace(line, colours)), ...dots.map((points) => markers(points, colours))],
    layout: {
      ...layout,
      height: layout.height + TITLE_PX,
      margin: { ...layout.margin, t: layout.margin.t + TITLE_PX },
      paper_bgcolor: colours.ground,
      annotations: [words(`${job} · ${when}`, layout.margin.t + TITLE_PX - 12, 14, colours.ink), ...named],
    },
  };
}

function trace({ x, y, look: { colour, width = 1, dash = "solid", opacity = 1 } }, colours) {
  return { type: "scatter", mode: "lines", x, y, opacity, line: { color: colours[colour], width, dash, simplify: false } };
}

function markers({ x, y, look: { colour } }, colours) {
  return { type: "scatter", mode: "markers", x, y, marker: { color: colours[colour], size: 4 } };
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
