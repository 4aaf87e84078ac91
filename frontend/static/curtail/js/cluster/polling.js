/** Asks again and again while somebody looks; what is shown is told to be old once no answer comes. */

import { part, setText } from "../core/dom.js";
import { clockTime, zoneName } from "../core/times.js";
import { chosenZone } from "../core/zone.js";

const EVERY_MS = 5000;

/** → how to ask at once, for instance after a change */
export function poll(ask, onAnswer) {
  let timer = null;
  let answeredMs = null;
  let asked = 0;
  const again = () => {
    if (document.hidden) document.addEventListener("visibilitychange", now, { once: true });
    else now();
  };
  async function now() {
    clearTimeout(timer);
    asked += 1;
    const question = asked;
    try {
      const answer = await ask();
      // A slow answer to an earlier question must not replace that of a later one.
      if (question !== asked) return;
      answeredMs = Date.now();
      tell("");
      onAnswer(answer);
    } catch (error) {
      if (question !== asked) return;
      const old = answeredMs === null ? "" : ` What is shown is as of ${clockTime(answeredMs, chosenZone())} ${zoneName(answeredMs, chosenZone())}.`;
      tell(`${error.message}. Trying again every 5 s.${old}`);
    }
    part("loading").hidden = true;
    timer = setTimeout(again, EVERY_MS);
  }
  now();
  return now;
}

function tell(trouble) {
  const box = part("trouble");
  box.hidden = !trouble;
  setText(box, trouble);
  document.querySelector("main").classList.toggle("outdated", Boolean(trouble));
}
