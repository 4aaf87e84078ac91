/** The technique that addresses an incident: its card on the job page, or why there is none. */

import { jobUrl } from "./api.js";
import { element } from "./dom.js";

/** `cards` are those of the job; null while they are not known. */
export function remedy({ technique, job }, cards) {
  if (!technique) return [element("p", {}, "None of the techniques addresses this kind of trouble. The evidence says where to look.")];
  if (!cards) return [element("p", { class: "muted" }, "Looking for the technique against it…")];
  const card = cards.find(({ name }) => name === technique);
  if (!card) {
    return [element("p", {}, element("strong", {}, technique), " is the technique against this. It is not part of this installation, so Curtail cannot apply it.")];
  }
  const { hold, why } = card.conditions;
  const fits = hold === true ? "Its conditions hold for this job now" : hold === false ? "Its conditions do not hold for this job now" : "Not known yet whether its conditions hold";
  return [
    element("p", {}, element("a", { href: `${jobUrl(job)}#technique-${technique}` }, card.title), `: ${card.sentence}`),
    element("p", { class: "fits", "data-hold": String(hold) }, element("strong", {}, fits), why ? `: ${why}` : "."),
    element("p", { class: "muted" }, stands(card)),
  ];
}

function stands({ mode, state, because }) {
  if (mode === "off") return "It is off now.";
  const word = { asked: "asked, not answered yet", applied: "applied", refused: `refused because ${because}` }[state] ?? state;
  return `It is switched to “${mode}” now: ${word}${word.endsWith(".") ? "" : "."}`;
}
