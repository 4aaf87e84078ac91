/** A row that names the series, hides them on a click, and reads out the window at the cursor. */

import { element, setText } from "./dom.js";

export class Legend {
  #items = new Map();

  constructor(root, hidden, onChange) {
    this.root = root;
    this.hidden = hidden;
    this.onChange = onChange;
    this.time = element("span", { class: "legend-time" });
  }

  /** series: [{key, name, swatch, dash}]; `swatch` is a class, as inline colours are not allowed. */
  show(series) {
    const keys = series.map(({ key }) => key).join("\n");
    if (keys === this.keys) return;
    this.keys = keys;
    this.#items.clear();
    this.root.replaceChildren();
    for (const { key, name, swatch, dash } of series) {
      const value = element("span", { class: "legend-value" });
      const button = element(
        "button",
        { type: "button", class: "legend-item", "aria-pressed": String(!this.hidden.has(key)) },
        element("span", { class: `swatch ${swatch}`, "data-dash": dash ?? "solid" }),
        element("span", { class: "legend-name", title: name }, name),
        value,
      );
      button.addEventListener("click", () => this.#toggle(key, button));
      this.#items.set(key, value);
      this.root.append(button);
    }
    this.root.append(this.time);
  }

  read(time, values) {
    setText(this.time, time);
    for (const [key, node] of this.#items) setText(node, values.get(key) ?? "");
  }

  #toggle(key, button) {
    if (!this.hidden.delete(key)) this.hidden.add(key);
    button.setAttribute("aria-pressed", String(!this.hidden.has(key)));
    this.onChange();
  }
}
