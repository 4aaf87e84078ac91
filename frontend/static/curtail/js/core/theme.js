/** Light, dark or as the system says. Whoever draws outside CSS listens with `onTheme`. */

import { recall, remember } from "./remember.js";

const listeners = new Set();
const system = window.matchMedia("(prefers-color-scheme: dark)");
system.addEventListener("change", tell);

export function chosenTheme() {
  return recall("theme", ["light", "dark"], "auto");
}

export function chooseTheme(theme) {
  remember("theme", theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  tell();
}

export function onTheme(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener();
}
