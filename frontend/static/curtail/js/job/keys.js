/** The keyboard of the job page. None of it acts while the user types or a dialog is open. */

/** acts: {key: what to do}; an act may return false to leave the key to the browser. */
export function wireKeys(acts) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea, dialog, [contenteditable]")) return;
    // On a button or a link, Space and Enter press that.
    if (event.key === " " && event.target.closest("button, a, summary")) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
