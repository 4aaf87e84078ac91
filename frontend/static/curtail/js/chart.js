/** Draws the figure and reports what the user does to it: zoom, pan, double-click, cursor. */

import { figure, MARGIN } from "./figure.js";
import { palette } from "./palette.js";

const CONFIG = { displayModeBar: false, doubleClick: false, scrollZoom: false, showTips: false };
// How far from the cursor a window may be and still be read out.
const REACH_PX = 5;

export class Chart {
  #colours = null;
  #range = [0, 1];
  #cursorPx = null;
  #dragging = false;
  #drawing = false;

  constructor(root, cursorLine, Plotly, { onRange, onFollow, onCursor, onSize }) {
    this.root = root;
    this.cursorLine = cursorLine;
    this.Plotly = Plotly;
    this.plot = document.createElement("div");
    this.plot.className = "plot";
    root.prepend(this.plot);
    this.onRange = onRange;
    this.onFollow = onFollow;
    this.onCursor = onCursor;
    new ResizeObserver(onSize).observe(root);
    this.#watchPointer();
  }

  /** A redraw in the middle of a drag would take the zoom box out of the user's hand. */
  get busy() {
    return this.#dragging || this.#drawing;
  }

  retheme() {
    this.#colours = null;
  }

  async draw(picture) {
    this.#colours ??= palette();
    const began = performance.now();
    const { data, layout } = figure({
      ...picture,
      colours: this.#colours,
      width: this.root.clientWidth,
      height: this.root.clientHeight,
    });
    this.#range = picture.range;
    this.#drawing = true;
    try {
      await this.Plotly.react(this.plot, data, layout, CONFIG);
    } finally {
      this.#drawing = false;
    }
    if (!this.listening) this.#listen();
    this.#tellCursor();
    return performance.now() - began;
  }

  #listen() {
    this.listening = true;
    this.plot.on("plotly_relayout", (change) => {
      const start = change["xaxis.range[0]"] ?? change["xaxis.range"]?.[0];
      const end = change["xaxis.range[1]"] ?? change["xaxis.range"]?.[1];
      if (start !== undefined && end !== undefined) this.onRange([Number(start), Number(end)]);
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
    const inside = px >= MARGIN.l && px <= this.root.clientWidth - MARGIN.r;
    this.#cursorPx = inside ? px : null;
    this.#tellCursor();
  }

  #tellCursor() {
    const px = this.#cursorPx;
    this.cursorLine.hidden = px === null;
    if (px === null) {
      this.onCursor(null, 0);
      return;
    }
    this.cursorLine.style.transform = `translateX(${px}px)`;
    const [startMs, endMs] = this.#range;
    const msPerPx = (endMs - startMs) / (this.root.clientWidth - MARGIN.l - MARGIN.r);
    this.onCursor(startMs + (px - MARGIN.l) * msPerPx, REACH_PX * msPerPx);
  }
}

/** Plotly, once its script has run. */
export function plotlyLoaded(script) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((resolve, reject) => {
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("Plotly did not load")));
  });
}
