// What a grid shows: cells in panels of rows and columns, read a window at a time.

/** A cell of a grid. */
export interface Cell {
  panel: number;
  row: number;
  column: number;
}

/** Part of a panel: for each cell, row by row, what it is and how it looks. */
export interface Window {
  /** 0 nothing, 1 an element, 2 padding. */
  states: Uint8Array;
  shades: Uint8Array;
  /** Cells of another group have a border between them. */
  groups?: Int32Array;
  label(i: number): string;
}

/** Cells to show. */
export interface Source {
  /** How panels are arranged. */
  readonly across: number;
  readonly down: number;
  /** The size of each panel. */
  readonly rows: number;
  readonly columns: number;
  /** The sizes of tiles along rows and columns, inner first. */
  readonly cuts: readonly [rows: readonly number[], columns: readonly number[]];
  /** The most characters of a label. */
  readonly widest: number;
  title(panel: number): string;
  rowLabel(row: number): string;
  columnLabel(column: number): string;
  /** So many rows and columns from a cell on, `step` cells apart. */
  window(panel: number, row: number, column: number, rows: number, columns: number, step: number): Window;
  /** A cell in words. */
  describe(cell: Cell): string;
}

/** The most rows or columns that are shown; what is beyond is said. */
export const MOST = 2 ** 31;

/** Whether two cells are one. */
export function sameCell(a: Cell | null, b: Cell | null): boolean {
  return a === b || (!!a && !!b && a.panel === b.panel && a.row === b.row && a.column === b.column);
}
