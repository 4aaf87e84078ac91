/** "Are you sure, and why?" → the reason, or null where the answer is no. */

import { part, setText } from "./dom.js";

export function ask({ title, text, yes }) {
  const dialog = part("ask");
  const reason = part("ask-reason");
  setText(part("ask-title"), title);
  setText(part("ask-text"), text);
  setText(part("ask-yes"), yes);
  reason.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  reason.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? reason.value : null), { once: true });
  });
}
