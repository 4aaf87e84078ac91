/**
 * Draws the figure and reports what the user does to it: zoom, pan, double-click, cursor.
 *
 * Plotly takes longer to arrive than everything else together: until it is given, the axes are
 * painted with the lines, and only its gestures are missing.
 */

import { element } from "../core/dom.js";
import { figure, margins } from "./figure.js";
import { paintAxes } from "./grid.js";
import { Heads } from "./heads.js";
import { paint } from "./paint.js";
import { palette } from "../core/palette.js";

const CONFIG = { displayModeBar: false, doubleClick: false, scrollZoom: false, showTips: false };
// The lines are on the canvas, but a figure without any trace has no axes.
const NO_LINES = [{ type: "scatter", mode: "lines", x: [null], y: [null], hoverinfo: "skip" }];
// How far from the cursor a window may be and still be read out.
const REACH_PX = 5;

export class Chart {
  #colours = null;
  #range = [0, 1];
  #height = 0;
  #cursorPx = null;
  #dragging = false;
  #drawing = false;
  #drawn = null; // the last figure

  constructor(root, { canvas, plot, heads, cursor }, { hidden, onRange, onFollow, onCursor, onSize, onToggle }) {
    this.root = root;
    this.canvas = canvas;
    this.plot = plot;
    this.cursorLine = cursor;
    this.Plotly = null;
    this.listening = false; // to Plotly, for what the mouse does
    this.heads = new Heads(heads, hidden, onToggle);
    this.onRange = onRange;
    this.onFollow = onFollow;
    this.onCursor = onCursor;
    let widthPx = root.clientWidth;
    new ResizeObserver(() => {
      // The height follows from what is drawn; only a new width asks for a new drawing.
      if (root.clientWidth === widthPx) return;
      widthPx = root.clientWidth;
      onSize();
    }).observe(root);
    this.#watchPointer();
  }

  /** A redraw in the middle of a drag would take the zoom box out of the user's hand. */
  get busy() {
    return this.#dragging || this.#drawing;
  }

  /** How many lines the last drawing had. */
  get lines() {
    return this.#drawn.lines.filter(({ x }) => x.length > 0).length;
  }

  get colours() {
    return (this.#colours ??= palette());
  }

  retheme() {
    this.#colours = null;
  }

  /** Milliseconds to pixels from the left edge of the chart, for the range last drawn. */
  placeOf(ms) {
    const { l, r } = margins(this.root.clientWidth);
    const [startMs, endMs] = this.#range;
    return l + ((ms - startMs) / (endMs - startMs)) * (this.root.clientWidth - l - r);
  }

  async draw(picture) {
    const began = performance.now();
    const made = this.compose(picture);
    const { layout, heads } = made;
    this.#drawn = made;
    this.#range = picture.range;
    if (layout.height !== this.#height) {
      this.#height = layout.height;
      this.root.style.height = `${layout.height}px`;
    }
    this.heads.show(heads);
    this.#drawing = true;
    try {
      await this.Plotly?.react(this.plot, NO_LINES, layout, CONFIG);
      paint(this.canvas, made, picture.range, made.frame, this.colours);
      if (!this.Plotly) paintAxes(this.canvas, layout, made.frame);
    } finally {
      this.#drawing = false;
    }
    if (this.Plotly && !this.listening) this.#listen();
    this.#tellCursor();
    return performance.now() - began;
  }

  compose(picture) {
    return figure({ ...picture, colours: this.colours, width: this.root.clientWidth });
  }

  #listen() {
    this.listening = true;
    this.plot.on("plotly_relayout", (change) => {
      const range = rangeOf(change);
      if (range) this.onRange(range);
    });
    // While the user pans, Plotly moves its axes by itself.
    this.plot.on("plotly_relayouting", (change) => {
      const range = rangeOf(change);
      if (range) paint(this.canvas, this.#drawn, range, this.#drawn.frame, this.colours);
    });
    this.plot.on("plotly_doubleclick", () => this.onFollow());
  }

  #watchPointer() {
    this.root.addEventListener("pointerdown", (event) => {
      this.#dragging = event.pointerType === "mouse" && event.button === 0;
      this.#moveCursor(event);
    });
    // On the window: the button may come up outside the chart.
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      window.addEventListener(end, () => (this.#dragging = false));
    }
    this.root.addEventListener("pointermove", (event) => this.#moveCursor(event));
    this.root.addEventListener("pointerleave", () => {
      this.#cursorPx = null;
      this.#tellCursor();
    });
  }

  #moveCursor(event) {
    const px = event.clientX - this.root.getBoundingClientRect().left;
    const { l, r } = margins(this.root.clientWidth);
    this.#cursorPx = px >= l && px <= this.root.clientWidth - r ? px : null;
    this.#tellCursor();
  }

  #tellCursor() {
    const px = this.#cursorPx;
    this.cursorLine.hidden = px === null;
    if (px === null) {
      this.heads.read(new Map());
      this.onCursor(null, 0, []);
      return;
    }
    this.cursorLine.style.transform = `translateX(${px}px)`;
    const { l, r } = margins(this.root.clientWidth);
    const [startMs, endMs] = this.#range;
    const msPerPx = (endMs - startMs) / (this.root.clientWidth - l - r);
    const series = this.#drawn?.heads.flatMap(({ items }) => items) ?? [];
    this.heads.read(this.onCursor(startMs + (px - l) * msPerPx, REACH_PX * msPerPx, series));
  }
}

function rangeOf(change) {
  const start = change["xaxis.range[0]"] ?? change["xaxis.range"]?.[0];
  const end = change["xaxis.range[1]"] ?? change["xaxis.range"]?.[1];
  return start === undefined || end === undefined ? null : [Number(start), Number(end)];
}

/** Plotly, once its script has been fetched and has run. */
// Plotly carries the style sheet of a map library and adds it inline while it loads, which the content
// security policy refuses: unless an element with this id, a hash of the sheet, is there already.
const MAP_STYLES = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";

export function loadPlotly(url) {
  return new Promise((resolve, reject) => {
    if (!document.getElementById(MAP_STYLES)) document.head.append(element("template", { id: MAP_STYLES }));
    const script = document.createElement("script");
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("Plotly did not load")));
    script.src = url;
    document.head.append(script);
  });
}
