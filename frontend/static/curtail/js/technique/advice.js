/** What to do before any technique: why, the line to copy, and what it costs. */

import { copyable } from "../core/copy.js";
import { element } from "../core/dom.js";

/** What comes between the advice and the technique that it stands before. */
export function otherwise({ needs_restart: restart }) {
  return restart ? "If it cannot restart now, this acts on the running job:" : "This technique all the same:";
}

export function advice({ title, why, line, price }) {
  return element(
    "div",
    { class: "advice" },
    element("p", {}, element("strong", {}, `First: ${title}. `), why),
    copyable(line, "advice"),
    element("p", { class: "muted" }, `The price: ${price}.`),
  );
}
