/** What to do before any technique: why, the line to copy, and what it costs. */

import { copyable } from "../core/copy.js";
import { element } from "../core/dom.js";

export function advice({ title, why, line, price }) {
  return element(
    "div",
    { class: "advice" },
    element("p", {}, element("strong", {}, `First: ${title}. `), why),
    copyable(line, "advice"),
    element("p", { class: "muted" }, `The price: ${price}.`),
  );
}
