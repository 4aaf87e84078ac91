/** Copy buttons: each stands beside the text it copies. */

import { element } from "./dom.js";

const SAID_FOR_MS = 2000;

export function wireCopyButtons() {
  for (const button of document.querySelectorAll("[data-copy]")) wire(button, button.parentElement.querySelector("[data-copy-text]"));
}

/** A line of code with its button; `of` names the button, so that a redraw finds it again. */
export function copyable(line, of) {
  const source = element("code", { "data-copy-text": true }, line);
  const button = element("button", { type: "button", "data-copy": true, "data-of": of }, "Copy");
  wire(button, source);
  return element("div", { class: "code" }, element("pre", {}, source), button);
}

function wire(button, source) {
  button.addEventListener("click", async () => {
    const copied = await copy(source);
    button.textContent = copied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), SAID_FOR_MS);
  });
}

async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    // The clipboard is closed on plain HTTP away from localhost, where many dashboards are served.
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}
