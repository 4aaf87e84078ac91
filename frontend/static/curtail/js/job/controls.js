/** The job page's toolbar and keyboard. */

import { choice } from "../core/choice.js";
import { openDialog } from "../core/dialog.js";
import { part } from "../core/dom.js";
import { wireKeys } from "./keys.js";
import { KEPT_MS } from "../chart/ring.js";
import { remember } from "../core/remember.js";
import { fromField, toField } from "../core/times.js";
import { chosenZone } from "../core/zone.js";

const PAN = 0.25;

export function wireControls({ scene, look, compare, incidents, changed, savePng }) {
  const span = part("span");
  const jump = part("jump");
  const toggle = () => (scene.paused ? scene.follow() : scene.pause());
  const showScale = choice(part("scale-choice"), look.scale, (chosen) => {
    look.scale = chosen;
    remember("scale", chosen);
    changed();
  });
  const showWhich = choice(part("which-choice"), look.which, (chosen) => {
    look.which = chosen;
    changed();
  });
  const before = () => {
    if (compare.ranges) compare.close();
    else if (!part("compare-button").disabled) compare.withBefore(scene.range);
  };
  const png = part("png");
  const help = () => openDialog(part("help"));

  part("follow").addEventListener("click", () => scene.follow());
  part("pause").addEventListener("click", () => scene.pause());
  part("compare-button").addEventListener("click", before);
  part("help-button").addEventListener("click", help);
  png.addEventListener("click", async () => {
    png.disabled = true;
    png.textContent = "Saving…";
    const saved = await savePng().then(() => true, () => false);
    png.disabled = false;
    png.textContent = saved ? "PNG" : "PNG failed";
  });
  span.addEventListener("change", () => {
    const spanMs = Number(span.value);
    // A page does not begin with a month.
    if (spanMs <= KEPT_MS) remember("span", span.value);
    scene.setSpan(spanMs);
  });
  jump.addEventListener("change", () => {
    const atMs = fromField(jump.value, chosenZone());
    if (atMs !== null) scene.jump(atMs);
  });
  wireKeys({
    " ": toggle,
    "+": () => scene.zoom(0.5),
    "=": () => scene.zoom(0.5),
    "-": () => scene.zoom(2),
    ArrowLeft: () => scene.pan(-PAN),
    ArrowRight: () => scene.pan(PAN),
    Home: () => scene.pause([scene.oldestMs, scene.oldestMs + scene.view.spanMs]),
    End: () => scene.follow(),
    l: () => {
      look.scale = look.scale === "log" ? "linear" : "log";
      changed();
    },
    j: () => jump.focus(),
    c: before,
    i: () => incidents.choose(incidents.open === null ? "list" : null),
    n: () => incidents.step(1),
    p: () => incidents.step(-1),
    "?": help,
  });

  return {
    /** Updates the controls to the present state. */
    show() {
      part("follow").setAttribute("aria-pressed", String(!scene.paused));
      part("pause").setAttribute("aria-pressed", String(scene.paused));
      part("compare-button").setAttribute("aria-pressed", String(compare.ranges !== null));
      showScale(look.scale);
      showWhich(look.which);
      const [startMs, endMs] = scene.range;
      const wide = endMs - startMs > KEPT_MS;
      span.value = String(wide ? spanNear(span, endMs - startMs) : scene.view.spanMs);
      for (const option of span.options) option.disabled = Number(option.value) > Math.max(scene.widestMs, KEPT_MS);
      // These two take single windows, of a quarter of an hour at most.
      part("compare-button").disabled = wide && compare.ranges === null;
      part("csv").hidden = wide;
      jump.min = toField(scene.oldestMs, chosenZone());
      jump.max = toField(scene.nowMs(), chosenZone());
      // Do not overwrite a field while the user types into it.
      if (document.activeElement !== jump) jump.value = scene.paused ? toField((startMs + endMs) / 2, chosenZone()) : "";
    },

    /** The two ranges that are compared, as bands over the chart. */
    bands(chart, [startMs, endMs], ranges) {
      for (const name of ["a", "b"]) {
        const band = part(`band-${name}`);
        const [from, to] = ranges?.[name] ?? [0, 0];
        band.hidden = !ranges || to <= startMs || from >= endMs;
        if (band.hidden) continue;
        const left = chart.placeOf(Math.max(from, startMs));
        band.style.transform = `translateX(${left}px)`;
        band.style.width = `${chart.placeOf(Math.min(to, endMs)) - left}px`;
      }
    },
  };
}

/** The span to choose from that is nearest to that of the view. */
function spanNear({ options }, spanMs) {
  const spans = [...options].map(({ value }) => Number(value)).filter((ms) => ms > KEPT_MS);
  return spans.reduce((one, other) => (Math.abs(Math.log(other / spanMs)) < Math.abs(Math.log(one / spanMs)) ? other : one));
}
