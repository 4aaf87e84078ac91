/**
 * The figure of a technique: points, lines or bars, one place marked, or a grid. All of it is data
 * that the technique brings; nothing here knows which one. A kind that is not known here is told in
 * words.
 */

import * as bars from "./bars.js";
import { element } from "../core/dom.js";
import * as grid from "./grid.js";
import * as lines from "./lines.js";
import * as points from "./scatter.js";
import { named } from "./svg.js";

const KINDS = { points, lines, bars, grid };

export function techniqueFigure(figure) {
  const { kind, title, weighs, note, x, y } = figure;
  const head = element("h4", {}, title);
  if (!(kind in KINDS) || isEmpty(figure)) return element("figure", { class: "technique-figure" }, head, element("p", { class: "muted" }, note));
  if (kind === "grid") {
    return element("figure", { class: "technique-figure", "data-wide": isWide(figure) }, head, ...grid.build(figure, inWords(figure)), element("figcaption", { class: "muted" }, note));
  }
  const { draw, key } = KINDS[kind];
  const plot = element("div", { class: "technique-plot", "data-kind": kind, role: "img", "aria-label": inWords(figure) });
  // Drawn before the browser paints it for the first time, and again in every other width.
  new ResizeObserver(([{ contentRect }]) => contentRect.width > 0 && plot.replaceChildren(draw(figure, contentRect.width))).observe(plot);
  const said = [note, weighs && `The larger a point, the more ${weighs}.`, kind === "bars" && `Bars: ${named(y, true)} by ${named(x, true)}.`];
  return element("figure", { class: "technique-figure" }, head, plot, key ? key(figure) : null, element("figcaption", { class: "muted" }, said.filter(Boolean).join(" ")));
}

/** Whether it needs the width of the page. */
export function isWide(figure) {
  return figure.kind === "grid" && !isEmpty(figure) && grid.isWide(figure);
}

/** Whether there is nothing to draw yet. */
export function isEmpty(figure) {
  return figure.kind in KINDS && !KINDS[figure.kind].has(figure);
}

export function inWords(figure) {
  return [figure.title, figure.mark?.label, ...KINDS[figure.kind].words(figure)].filter(Boolean).join("; ");
}
