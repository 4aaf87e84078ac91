/**
 * Where a setting stands by what the job's newest frame says: the rule of
 * `dashboard/steering/status.py`, of a job that runs. One table of cases tests both.
 */

const STATES = { asked: "asked", applied: "applied", refused: "refused", lapsed: "asked" };
const NOT_HEARD = { state: "asked", because: "the job has not heard of it yet" };

export function controlState({ name, mode, document_version: version }, asked) {
  if (!asked || asked.version < version) return NOT_HEARD;
  if (mode === "off") return asked.settled ? { state: "off", because: "" } : { state: "asked", because: "not every executor has let go yet" };
  const told = asked.techniques[name];
  if (!told) return NOT_HEARD;
  if (told.mode !== mode) return { state: "asked", because: "waiting for the first decision" };
  return { state: STATES[told.state], because: told.because };
}

/** The card as the job says it is now. What is off, and known to be off, is no longer asked for. */
export function toldBy(asked, item) {
  const settled = item.mode === "off" && item.state === "off";
  return settled || !item.document_version ? item : { ...item, ...controlState(item, asked) };
}
