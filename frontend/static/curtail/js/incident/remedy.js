/** The text beside the card of the technique that helps against an incident, or in its place. */

import { element } from "../core/dom.js";
import { advice, otherwise } from "../technique/advice.js";

/** The advice on what to do first, if any, then the text about the technique. */
export function remedy(technique, cards, first = null) {
  if (!first) return beside(technique, cards);
  const then = cards?.length ? [element("p", { class: "then" }, otherwise(first))] : beside(technique, cards);
  return [advice(first), ...then];
}

/** `cards` are those of the technique; null while they are not known. */
function beside(technique, cards) {
  if (!technique) return [element("p", {}, "None of the techniques addresses this kind of trouble. The evidence says where to look.")];
  if (!cards) return [element("p", { class: "muted" }, "Looking for the technique against it…")];
  if (cards.length) return [];
  return [element("p", {}, element("strong", {}, technique), " is the technique against this. It is not part of this installation, so Curtail cannot apply it.")];
}
