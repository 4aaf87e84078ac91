/**
 * Runs work that may fail, with its button disabled meanwhile, and shows the error on the page.
 * The error of an earlier attempt is removed.
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
