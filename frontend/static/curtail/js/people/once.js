/** A secret on the page, until it is left or the next one comes. */

import { part, setText } from "../core/dom.js";

export function showOnce(secret, name) {
  setText(part("secret"), secret);
  setText(part("once-name"), name);
  const box = part("once");
  box.hidden = false;
  // For those who hear the page, and for those whose screen ends above it.
  box.focus();
  box.scrollIntoView({ block: "nearest" });
}

export function hideOnce() {
  part("once").hidden = true;
  setText(part("secret"), "");
}
