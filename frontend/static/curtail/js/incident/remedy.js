/** What is said beside the card of the technique that addresses an incident, or in its place. */

import { element } from "../core/dom.js";

/** `cards` are those of it; null while they are not known. */
export function remedy(technique, cards) {
  if (!technique) return [element("p", {}, "None of the techniques addresses this kind of trouble. The evidence says where to look.")];
  if (!cards) return [element("p", { class: "muted" }, "Looking for the technique against it…")];
  if (cards.length) return [];
  return [element("p", {}, element("strong", {}, technique), " is the technique against this. It is not part of this installation, so Curtail cannot apply it.")];
}
