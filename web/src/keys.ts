// Where keys lead in a grid.

import type { Cell, Source } from "./source.js";

/** Where a key leads from a cell. */
export function moved(event: KeyboardEvent, cell: Cell, source: Source, page: number): Cell | null {
  const { rows, columns, across, down } = source;
  const to = (row: number, column: number): Cell => ({
    panel: cell.panel,
    row: Math.max(0, Math.min(rows - 1, row)),
    column: Math.max(0, Math.min(columns - 1, column)),
  });
  switch (event.key) {
    case "ArrowLeft":
      return to(cell.row, cell.column - 1);
    case "ArrowRight":
      return to(cell.row, cell.column + 1);
    case "ArrowUp":
      return to(cell.row - 1, cell.column);
    case "ArrowDown":
      return to(cell.row + 1, cell.column);
    case "PageUp":
      return to(cell.row - page, cell.column);
    case "PageDown":
      return to(cell.row + page, cell.column);
    case "Home":
      return to(event.ctrlKey ? 0 : cell.row, 0);
    case "End":
      return to(event.ctrlKey ? rows - 1 : cell.row, columns - 1);
    case "[":
      return { ...cell, panel: Math.max(0, cell.panel - 1) };
    case "]":
      return { ...cell, panel: Math.min(across * down - 1, cell.panel + 1) };
    default:
      return null;
  }
}
