/** A mark on the chart's time axis for every action in view. */

import { element } from "../core/dom.js";

// A mark nearer than this to the one before would cover it.
const MARK_PX = 8;

export class Marks {
  #marks = new Map();

  /** `onChoose(key)` is told which action somebody wants to read. */
  constructor(root, onChoose) {
    this.root = root;
    this.onChoose = onChoose;
  }

  /** `actions`: [{key, at_ms, label, quiet, advised}], oldest first. */
  show(chart, [startMs, endMs], actions, chosen) {
    const seen = new Set();
    let lastPx = -Infinity;
    for (const action of actions) {
      if (action.at_ms < startMs || action.at_ms > endMs) continue;
      seen.add(action.key);
      const { node, button } = this.#markOf(action);
      lastPx = Math.max(chart.placeOf(action.at_ms), Math.min(lastPx + MARK_PX, chart.placeOf(endMs)));
      node.style.transform = `translateX(${lastPx}px)`;
      node.toggleAttribute("data-advised", action.advised);
      node.toggleAttribute("data-quiet", action.quiet);
      button.title = action.label;
      button.setAttribute("aria-label", action.label);
      button.setAttribute("aria-expanded", String(action.key === chosen));
    }
    for (const [key, { node }] of this.#marks) {
      if (seen.has(key)) continue;
      node.remove();
      this.#marks.delete(key);
    }
  }

  #markOf({ key }) {
    let mark = this.#marks.get(key);
    if (!mark) {
      const button = element("button", { type: "button", class: "mark" });
      button.addEventListener("click", () => this.onChoose(key));
      mark = { button, node: element("div", { class: "mark-line" }, button) };
      this.root.append(mark.node);
      this.#marks.set(key, mark);
    }
    return mark;
  }
}
