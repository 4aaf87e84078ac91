/** The colours of tokens.css, resolved for the present theme, for what is drawn outside CSS. */

const NAMES = [
  "ground", "ink", "muted", "hairline", "accent", "red",
  "p50", "p90", "p99", "p999", "palest",
  "flush", "compaction", "gc",
  "host-1", "host-2", "host-3", "host-4", "host-5", "host-6", "host-7",
];

export function palette() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const resolve = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = Object.fromEntries(NAMES.map((name) => [name, resolve(name)]));
  colours.font = getComputedStyle(document.body).fontFamily;
  probe.remove();
  return colours;
}
