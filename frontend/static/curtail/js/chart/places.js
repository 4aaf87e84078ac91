/** Which colour and dash a host or executor has: the first come keeps its own while the page is open. */

const COLOURS = 7;
const DASHES = ["solid", "dash", "dot"];

export class Places {
  #places = new Map();

  of(name) {
    if (!this.#places.has(name)) this.#places.set(name, this.#firstFree());
    const place = this.#places.get(name);
    return { colour: `host-${(place % COLOURS) + 1}`, dash: DASHES[Math.floor(place / COLOURS) % DASHES.length] };
  }

  /** Frees the colours of hosts and executors that are gone. */
  keepOnly(names) {
    for (const name of this.#places.keys()) if (!names.includes(name)) this.#places.delete(name);
  }

  #firstFree() {
    const taken = new Set(this.#places.values());
    let place = 0;
    while (taken.has(place)) place += 1;
    return place;
  }
}
