/** Dialogs: the browser's own, so that focus, Escape and what lies behind are taken care of. */

/** Opens the dialog; a click beside it closes it, and so does every [data-close] in it. */
export function openDialog(dialog) {
  if (!dialog.dataset.wired) {
    dialog.dataset.wired = "yes";
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
    });
  }
  dialog.showModal();
}

/**
 * A form in a dialog. `send` gets the form and the button that sent it, and may throw: the dialog then
 * stays open and says why.
 * Resolves to what `send` returned, or null when the user cancelled.
 */
export function ask(dialog, send) {
  const form = dialog.querySelector("form");
  const trouble = dialog.querySelector("[data-dialog-trouble]");
  const submit = form.querySelector("[type=submit]");
  const say = (text) => {
    trouble.hidden = !text;
    trouble.textContent = text;
  };
  say("");
  submit.disabled = false;
  openDialog(dialog);
  return new Promise((resolve) => {
    let answer = null;
    form.onsubmit = async (event) => {
      event.preventDefault();
      if (submit.disabled) return;
      submit.disabled = true;
      try {
        answer = await send(form, event.submitter);
        dialog.close();
      } catch (error) {
        say(`${error.message}.`);
        submit.disabled = false;
      }
    };
    dialog.onclose = () => resolve(answer);
  });
}
