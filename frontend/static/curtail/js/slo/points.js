/** The points of a utility function as a short list of fields, a row each. */

import { element } from "../core/dom.js";
import { MOST_POINTS } from "./utility.js";

const HEADS = { latency: "Latency, ms", juice: "Juice" };

export class PointList {
  /** `onChange` is told when a row came or went; typing is told by the form. */
  constructor(root, kind, onChange) {
    this.root = root;
    this.kind = kind;
    this.onChange = onChange;
    this.rows = element("ol", {});
    this.more = element("button", { type: "button", class: "plain" }, "Add a point");
    this.more.addEventListener("click", () => {
      this.#add(this.#next());
      this.onChange();
      this.rows.lastChild.querySelector("input").focus();
    });
    const head = element("p", { class: "points-head", "aria-hidden": "true" }, element("span", {}, HEADS[kind]), element("span", {}, "Worth, 0 to 1"));
    root.replaceChildren(head, this.rows, this.more);
  }

  get value() {
    return [...this.rows.children].map((row) => [...row.querySelectorAll("input")].map(({ value }) => (value === "" ? NaN : Number(value))));
  }

  set value(points) {
    this.rows.replaceChildren();
    for (const point of points) this.#add(point);
  }

  #add([value, part]) {
    const field = (name, at) => element("input", { type: "number", step: "any", min: "0", inputmode: "decimal", autocomplete: "off", "aria-label": name, value: Number.isNaN(at) ? "" : String(at) });
    const gone = element("button", { type: "button", class: "plain", "aria-label": "Remove this point" }, "×");
    const row = element("li", {}, field(HEADS[this.kind], value), field("Worth, 0 to 1", part), gone);
    gone.addEventListener("click", () => {
      row.remove();
      this.onChange();
      this.more.disabled = false;
      this.more.focus();
    });
    this.rows.append(row);
    this.more.disabled = this.rows.children.length >= MOST_POINTS;
  }

  /** A further point: as far again, and as much less or more. */
  #next() {
    const points = this.value;
    if (points.length < 2) return [NaN, NaN];
    const [[before, had], [last, has]] = points.slice(-2);
    const on = { latency: [last + (last - before), has / 2], juice: [Math.min(1, last + (last - before)), Math.max(has, had)] };
    return on[this.kind].map((number) => Number(number.toPrecision(3)));
  }
}
