/**
 * Runs what may fail, with its button off meanwhile, and says on the page what went wrong.
 * What was said of the time before goes away.
 */

import { part, setText } from "./dom.js";

/** → what `work` gave, or undefined where it failed */
export async function tried(button, work) {
  const box = part("trouble");
  box.hidden = true;
  const done = part("done");
  if (done) setText(done, "");
  if (button) button.disabled = true;
  try {
    return await work();
  } catch (error) {
    setText(box, `${error.message}.`);
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
    return undefined;
  } finally {
    if (button) button.disabled = false;
  }
}
