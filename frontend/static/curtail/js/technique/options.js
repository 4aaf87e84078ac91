/** The options of a technique as fields, and back. */

import { element } from "../core/dom.js";

export function fill(root, options) {
  root.replaceChildren(...options.map(field));
}

/** {name: value} of the fields; of an option without a field, its present value. */
export function optionsOf(root, options) {
  const values = {};
  for (const { name, kind, value } of options) {
    const input = root.querySelector(`[name="${CSS.escape(`option-${name}`)}"]`);
    if (!input) values[name] = value;
    else if (kind === "bool") values[name] = input.checked;
    else values[name] = kind === "choice" ? input.value : Number(input.value);
  }
  return values;
}

function field({ name, title, kind, value, default: usual, low, high, choices, unit }) {
  const hint = [
    unit,
    low !== null && low !== undefined && high !== null && high !== undefined ? `${low} to ${high}` : "",
    `usually ${usual === true ? "on" : usual === false ? "off" : usual}`,
  ].filter(Boolean);
  return element(
    "label",
    { class: kind === "bool" ? "check" : "" },
    element("span", {}, title),
    input(`option-${name}`, { kind, value, low, high, choices }),
    element("small", { class: "muted" }, hint.join(", ")),
  );
}

function input(name, { kind, value, low, high, choices }) {
  if (kind === "bool") return element("input", { name, type: "checkbox", checked: Boolean(value) });
  if (kind === "choice") {
    return element("select", { name }, ...choices.map((choice) => element("option", { value: choice, selected: choice === value }, choice)));
  }
  return element("input", {
    name,
    type: "number",
    value: String(value),
    required: true,
    min: low ?? null,
    max: high ?? null,
    step: kind === "int" ? "1" : "any",
  });
}
