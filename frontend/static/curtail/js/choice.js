/** A group of buttons of which one is pressed; the pressed one's value is the choice. */

export function choice(group, value, onChoose) {
  const buttons = [...group.querySelectorAll("button")];
  const show = (chosen) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === chosen));
  };
  group.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    show(button.value);
    onChoose(button.value);
  });
  show(value);
}
