/**
 * Utilities over time in the form that the chart draws: a sample has the number of its step, as a window has
 * in the job page's ring. Nothing is known of a step without a sample.
 */

export class Samples {
  #columns = new Map();

  /** `series`: {t, columns: {name: values}}, times in ms and null where a value is not known. */
  constructor(stepMs, { t, columns }) {
    this.windowMs = stepMs;
    this.stepped = true;
    const numbers = t.map((ms) => Math.floor(ms / stepMs));
    this.from = numbers[0] ?? 0;
    this.to = numbers.length ? numbers.at(-1) + 1 : 0;
    for (const [name, values] of Object.entries(columns)) {
      const held = new Map();
      values.forEach((value, i) => value !== null && held.set(numbers[i], value));
      this.#columns.set(name, held);
    }
  }

  get size() {
    return this.to - this.from;
  }

  at(name, number) {
    return this.#columns.get(name)?.get(number) ?? NaN;
  }

  /** The numbers of the samples within a range of time. */
  span(startMs, endMs) {
    const from = Math.max(this.from, Math.ceil(startMs / this.windowMs));
    return { from, to: Math.max(from, Math.min(this.to, Math.ceil(endMs / this.windowMs))) };
  }

  /** The sample to read out under a cursor: the newest that is not after it. */
  near(atMs) {
    const number = Math.floor(atMs / this.windowMs);
    return number >= this.from && number < this.to ? number : null;
  }
}
