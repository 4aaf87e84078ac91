/** A list of the API, newest first, a page at a time, filtered by a form that the page's address keeps. */

import { apiUrl, getJson } from "./api.js";
import { part } from "./dom.js";
import { tried } from "./trouble.js";

const PAGE = 50;

/** `onItems(items, {filtered})` shows them: `filtered` if the form asks for some of them only. */
export class FilteredList {
  #items = [];
  #next = null;
  #asked = 0;

  constructor(path, names, onItems) {
    this.path = path;
    this.names = names;
    this.onItems = onItems;
    this.form = part("filters");
    const address = new URLSearchParams(location.search);
    for (const name of names) this.form[name].value = address.get(name) ?? "";
    for (const event of ["submit", "change"]) this.form.addEventListener(event, (happened) => this.#filter(happened));
    part("show-more").addEventListener("click", () => this.load({ more: true }));
  }

  /** Shows the known items again. */
  show() {
    part("loading").hidden = true;
    part("more").hidden = this.#next === null;
    part("table").hidden = this.#items.length === 0;
    part("empty").hidden = this.#items.length > 0;
    this.onItems(this.#items, { filtered: this.#chosen().length > 0 });
    part("view").dataset.view = "list";
  }

  async load({ more = false } = {}) {
    const query = new URLSearchParams([["limit", PAGE], ...this.#chosen()]);
    if (more) query.set("cursor", this.#next);
    this.#asked += 1;
    const question = this.#asked;
    const answer = await tried(part("show-more"), () => getJson(`${apiUrl(this.path)}?${query}`));
    part("loading").hidden = true;
    // A slow answer to an earlier question must not replace that of a later one.
    if (!answer || question !== this.#asked) return;
    this.#items = more ? [...this.#items, ...answer.items] : answer.items;
    this.#next = answer.next;
    this.show();
  }

  #chosen() {
    return this.names.map((name) => [name, this.form[name].value]).filter(([, value]) => value);
  }

  #filter(event) {
    event.preventDefault();
    const address = new URL(location.href);
    for (const name of this.names) address.searchParams.delete(name);
    for (const [name, value] of this.#chosen()) address.searchParams.set(name, value);
    history.replaceState(null, "", address);
    this.load();
  }
}
