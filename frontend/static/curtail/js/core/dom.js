/** Elements from data. Text only ever becomes text: a job's name may hold anything. */

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Writes only what differs, so a selection or a screen reader is not disturbed by a redraw. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** [data-name] within the page */
export function part(name) {
  return document.querySelector(`[data-${name}]`);
}
