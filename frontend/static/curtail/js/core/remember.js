/** Choices that outlive the page. Storage may be forbidden or full: a choice then lasts one page. */

const PREFIX = "curtail.";

export function recall(name, allowed, otherwise) {
  try {
    const value = localStorage.getItem(PREFIX + name);
    return allowed.includes(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // See above.
  }
}
