/**
 * Squares in rows and columns: a table, so that a screen reader can say where each of them is. The
 * colour of a square shows its value, its area its size; arrows show what moved lately. CSS knows
 * the sizes, so nothing is drawn again in another width.
 */

import { element } from "../core/dom.js";
import { moves } from "./moves.js";
import { quantity } from "./svg.js";
import { place, walkOn } from "./walk.js";

// More columns than these need the width of the page.
const FEW_COLUMNS = 16;
// How wide a column may get at least, and the width of a character of its label.
const LEAST_PX = 16;
const LETTER_PX = 6.5;
const LARGEST = 0.84;
const SMALLEST = 0.3;
const STEPS = [1, 2, 5, 10, 20, 50, 100];
const HINT = "Point at a square or tap it to read it; arrow keys lead from one to the next.";

export const has = ({ grid }) => (grid?.cells ?? []).length > 0;

export const words = ({ note, grid }) => [note, ...grid.shifts.map(({ says }) => says)];

export const isWide = ({ grid }) => grid.columns.length > FEW_COLUMNS;

/** `name` is the accessible name of the table; what it shows is also said in a line below it. */
export function build(figure, name) {
  const { grid } = figure;
  const table = element("table", { class: "technique-grid", role: "grid", "aria-label": name }, head(figure), body(figure));
  const cells = element("div", { class: "technique-cells" }, table, moves(grid, side));
  style(cells, { columns: grid.columns.length, rows: grid.rows.length, letters: longest(grid.rows) });
  const plot = element("div", { class: "technique-plot", "data-kind": "grid", "data-scroll-of": figure.title }, cells);
  const readout = element("p", { class: "technique-says muted", "aria-hidden": "true" }, HINT);
  readOn(plot, readout);
  walkOn(table, grid.cells);
  return [plot, readout, key(figure)];
}

function head({ x, grid }) {
  const step = STEPS.find((size) => size * LEAST_PX >= longest(grid.columns) * LETTER_PX + 2) ?? STEPS.at(-1);
  const labels = grid.columns.map((label, i) =>
    element("th", { scope: "col" }, element("span", { class: i % step ? "visually-hidden" : null }, label)),
  );
  return element("thead", {}, element("tr", {}, element("th", { scope: "col" }, x.label), ...labels));
}

function body({ title, grid }) {
  const { low, high } = ends(grid);
  const known = new Map(grid.cells.map((cell) => [place(cell), cell]));
  const left = new Map(grid.shifts.map((shift) => [place({ row: shift.from_row, column: shift.column }), shift.says]));
  const first = place(grid.cells[0]);
  const square = (at) => {
    const cell = known.get(place(at));
    const says = [cell?.says, left.get(place(at))].filter(Boolean).join("; ");
    if (!cell) return element("td", { title: says || null });
    const made = element("td", { class: "square", title: says, tabindex: place(at) === first ? 0 : -1, "data-place": place(at), "data-of": `${title} ${place(at)}` });
    style(made, { share: high > low ? (cell.value - low) / (high - low) : 0, side: side(grid, cell) });
    return made;
  };
  const rows = grid.rows.map((label, row) =>
    element("tr", {}, element("th", { scope: "row", title: label }, label), ...grid.columns.map((_, column) => square({ row, column }))),
  );
  return element("tbody", {}, ...rows);
}

function longest(labels) {
  return Math.max(...labels.map(({ length }) => length));
}

/** Variables for the style sheet. By script: the security policy refuses styles in attributes. */
function style(node, values) {
  for (const [name, value] of Object.entries(values)) node.style.setProperty(`--${name}`, value);
}

/** What the palest and the strongest colour stand for. From zero, so that nearly equal values look so. */
export function ends({ cells }) {
  const values = cells.map(({ value }) => value);
  return { low: Math.min(0, ...values), high: Math.max(0, ...values) };
}

/** The side of a square in cells: the area is proportional to the size, but for those so small that
 * nobody would see their colour. */
export function side({ sizes }, { size }) {
  return sizes ? Math.max(SMALLEST, LARGEST * Math.sqrt(Math.min(1, size))) : LARGEST;
}

function key({ y, grid }) {
  const { low, high } = ends(grid);
  const ramp = element("span", { class: "ramp" }, `${quantity(low, y.unit)} `, element("span", { "aria-hidden": "true" }), ` ${quantity(high, y.unit)}`);
  return element(
    "ul",
    { class: "technique-key" },
    element("li", {}, `Colour: ${y.label} `, ramp),
    grid.sizes ? element("li", {}, `Area: ${grid.sizes}`) : null,
    grid.shifts.length ? element("li", {}, element("span", { class: "move-key", "aria-hidden": "true" }, "↓"), "moved lately, the fainter the longer ago") : null,
  );
}

/** Says in `readout` what is under the pointer, or else what has the focus. */
function readOn(plot, readout) {
  const saidBy = (node) => {
    const found = node?.closest("td[title], .move");
    return found && (found.getAttribute("title") ?? found.querySelector("title").textContent);
  };
  const tell = (said) => {
    readout.textContent = said || HINT;
    readout.classList.toggle("muted", !said);
  };
  const focused = () => (plot.contains(document.activeElement) ? saidBy(document.activeElement) : null);
  plot.addEventListener("pointerover", ({ target }) => tell(saidBy(target) ?? focused()));
  plot.addEventListener("pointerleave", () => tell(focused()));
  plot.addEventListener("focusin", ({ target }) => tell(saidBy(target)));
  plot.addEventListener("focusout", () => tell(null));
}
