/** A group of buttons of which one is pressed; its value is the choice. Returns how to press another. */

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
  return show;
}
