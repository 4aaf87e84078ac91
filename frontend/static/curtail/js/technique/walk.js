/** The keyboard of a grid. */

const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** One square takes part in the order of tabs; arrow keys lead from it to the others. */
export function walkOn(table, cells) {
  table.addEventListener("keydown", (event) => {
    const from = event.target.dataset.place;
    const to = from && reached(cells, from.split("/").map(Number), event.key);
    if (!to) return;
    event.preventDefault();
    // The page's own arrow keys move the chart.
    event.stopPropagation();
    if (to !== from) table.querySelector(`[data-place="${to}"]`).focus();
  });
  table.addEventListener("focusin", ({ target }) => {
    if (!target.dataset.place) return;
    for (const cell of table.querySelectorAll('[tabindex="0"]')) cell.tabIndex = -1;
    target.tabIndex = 0;
  });
}

/** Where an arrow key leads: along the row, or to the nearest column of the next row that has a
 * square; where there is none, it stays. Undefined for any other key. */
export function reached(cells, [row, column], pressed) {
  if (!(pressed in KEYS)) return undefined;
  const [down, right] = KEYS[pressed];
  const ahead = cells.filter((cell) => (right ? cell.row === row && (cell.column - column) * right > 0 : (cell.row - row) * down > 0));
  const far = (cell) => [Math.abs(cell.row - row), Math.abs(cell.column - column)];
  ahead.sort((a, b) => far(a)[0] - far(b)[0] || far(a)[1] - far(b)[1]);
  return place(ahead[0] ?? { row, column });
}

/** A cell's name: row/column. */
export function place({ row, column }) {
  return `${row}/${column}`;
}
