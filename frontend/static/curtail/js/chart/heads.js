/**
 * The headings of the panels: what each shows, its series, and their values at the cursor.
 *
 * HTML over the figure, so that they can be tabbed to, selected and read aloud. A click on a series
 * hides it.
 */

import { element, setText } from "../core/dom.js";

export class Heads {
  #heads = [];

  constructor(root, hidden, onToggle) {
    this.root = root;
    this.hidden = hidden;
    this.onToggle = onToggle;
  }

  /** heads: [{title, note, items: [{key, name, look}], topPx}] */
  show(heads) {
    while (this.#heads.length < heads.length) this.#heads.push(this.#add());
    for (const { node } of this.#heads.splice(heads.length)) node.remove();
    heads.forEach((head, i) => this.#update(this.#heads[i], head));
  }

  /** Values by the key of their series. */
  read(values) {
    for (const { values: nodes } of this.#heads) {
      for (const [key, node] of nodes) setText(node, values.get(key) ?? "");
    }
  }

  #add() {
    const title = element("h3");
    const note = element("p", { class: "panel-note" });
    const items = element("div", { class: "panel-series", role: "group" });
    const node = element("div", { class: "panel-head" }, title, items, note);
    this.root.append(node);
    return { node, title, note, items, values: new Map(), keys: "", topPx: null };
  }

  #update(held, { title, note, items, topPx }) {
    setText(held.title, title);
    setText(held.note, note);
    held.note.title = note;
    if (held.topPx !== topPx) {
      held.topPx = topPx;
      held.node.style.top = `${topPx}px`;
    }
    const keys = items.map(({ key }) => key).join("\n");
    if (keys !== held.keys) {
      held.keys = keys;
      held.values.clear();
      held.items.setAttribute("aria-label", title);
      held.items.replaceChildren(...items.map((item) => this.#item(item, held.values)));
    }
    for (const button of held.items.children) {
      button.setAttribute("aria-pressed", String(!this.hidden.has(button.value)));
    }
  }

  #item({ key, name, look }, values) {
    const swatch = element("span", { class: "swatch", "data-dash": look.marker ? "marker" : (look.dash ?? "solid") });
    swatch.style.color = `var(--${look.colour})`;
    const value = element("span", { class: "series-value" });
    values.set(key, value);
    const button = element(
      "button",
      { type: "button", class: "series", value: key, title: `Hide or show ${name}` },
      swatch,
      element("span", { class: "series-name" }, name),
      value,
    );
    button.addEventListener("click", () => {
      if (!this.hidden.delete(key)) this.hidden.add(key);
      this.onToggle();
    });
    return button;
  }
}
