/** The colours of tokens.css, resolved for the present theme, for what is drawn outside CSS. */

const NAMES = ["ground", "ink", "muted", "hairline", "p50", "p90", "p99", "p999", "flush", "compaction", "gc"];
export const HOST_COLOURS = 7;

export function palette() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const resolve = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = Object.fromEntries(NAMES.map((name) => [name, resolve(name)]));
  colours.series = Array.from({ length: HOST_COLOURS }, (_, i) => resolve(`host-${i + 1}`));
  colours.font = getComputedStyle(document.body).fontFamily;
  probe.remove();
  return colours;
}
