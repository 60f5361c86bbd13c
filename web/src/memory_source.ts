// Memory as lines of cells: each offset with the element it holds.

import type { Facts, View } from "./engine.js";
import { panelOf, place, type Shading, shader } from "./layout_source.js";
import { type Cell, MOST, type Source, type Window } from "./source.js";

/** Memory as cells. */
export class MemorySource implements Source {
  readonly across = 1;
  readonly down = 1;
  readonly rows: number;
  readonly columns: number;
  readonly cuts: readonly [readonly number[], readonly number[]];
  readonly widest: number;
  private readonly shade: ReturnType<typeof shader>;

  /** Memory in lines of at most `fit` cells, cut where tiles end. */
  constructor(
    readonly facts: Facts,
    private readonly view: View,
    private readonly shading: Shading,
    fit: (widest: number) => number,
  ) {
    const { dims, capacity, low } = facts;
    this.widest = Math.max(dims.map((size) => `${Math.max(size - 1, 0)}`.length + 1).reduce((a, b) => a + b, -1), 1);
    const cells = capacity - low;
    const runs = digits(facts);
    this.columns = Math.max(1, Math.min(cells, width(runs, Math.max(fit(this.widest), 4))));
    this.rows = Math.min(Math.ceil(cells / this.columns), MOST);
    this.cuts = [[], runs.filter((run) => run > 1 && run < this.columns && this.columns % run === 0)];
    this.shade = shader(shading);
  }

  /** The offset of a cell. */
  offset(cell: Cell): number {
    return this.facts.low + cell.row * this.columns + cell.column;
  }

  /** The cell of an offset. */
  cell(offset: number): Cell {
    const at = offset - this.facts.low;
    return { panel: 0, row: Math.floor(at / this.columns), column: at % this.columns };
  }

  /** The coordinate of the element at an offset, null for none. */
  coord(offset: number): number[] | null {
    const cell = this.view.memory(offset, 1);
    return cell[0] === 1 ? Array.from(cell.subarray(1)) : null;
  }

  title(): string {
    return "";
  }

  rowLabel(row: number): string {
    return `${this.facts.low + row * this.columns}`;
  }

  columnLabel(column: number): string {
    return `+${column}`;
  }

  /** Its cells are never so small that some are left out: memory fits in width, and scrolls. */
  window(_panel: number, row: number, column: number, rows: number, columns: number): Window {
    const { dims } = this.facts;
    const rank = dims.length;
    const states = new Uint8Array(rows * columns);
    const shades = new Uint8Array(rows * columns);
    const coords = new Float64Array(rows * columns * rank);
    for (let i = 0; i < rows; i++) {
      const from = this.offset({ panel: 0, row: row + i, column });
      const cells = this.view.memory(from, columns);
      const elements = this.view === this.shading.view ? null : this.keys(cells, rank, columns);
      for (let j = 0; j < columns; j++) {
        const at = i * columns + j;
        const state = cells[j * (rank + 1)]!;
        if (from + j >= this.facts.capacity || state >= 2) continue;
        states[at] = state === 1 ? 1 : 2;
        if (state !== 1) continue;
        const coord = cells.subarray(j * (rank + 1) + 1, (j + 1) * (rank + 1));
        coords.set(coord, at * rank);
        const panel = panelOf(dims, coord as unknown as number[]);
        const [r, c] = [rank < 2 ? 0 : coord[rank - 2]!, rank < 1 ? 0 : coord[rank - 1]!];
        shades[at] = this.shade(panel, r, c, elements ? elements[j]! : from + j);
      }
    }
    const label = (i: number) => (states[i] === 1 ? coords.subarray(i * rank, (i + 1) * rank).join(",") : "");
    return { states, shades, label };
  }

  /** The offsets that the elements have in the layout the colours come from. */
  private keys(cells: Float64Array, rank: number, columns: number): Float64Array {
    const coords = new Float64Array(columns * rank);
    for (let j = 0; j < columns; j++) coords.set(cells.subarray(j * (rank + 1) + 1, (j + 1) * (rank + 1)), j * rank);
    return rank === 0 ? new Float64Array(columns) : this.shading.view.offsets(coords);
  }

  describe(cell: Cell): string {
    const offset = this.offset(cell);
    const bits = this.facts.element_bits;
    const at = `offset ${offset}${bits && Number.isSafeInteger(offset * bits) ? `, ${place(offset * bits)}` : ""}`;
    if (offset >= this.facts.capacity) return "behind the storage";
    const coord = this.coord(offset);
    return coord ? `${at}: element (${coord.join(", ")})` : `${at}: padding`;
  }
}

/** The sizes at which storage repeats, inner first: products of its modes from the smallest stride on. */
function digits(facts: Facts): number[] {
  const modes = facts.modes.filter(([extent, stride]) => extent > 1 && stride !== 0);
  modes.sort((a, b) => Math.abs(a[1]) - Math.abs(b[1]));
  const ends: number[] = [];
  for (const [extent, stride] of modes) ends.push(Math.abs(stride) * extent);
  return [...new Set(ends)];
}

/** As many cells as fit: whole runs, or a power of two. */
function width(runs: readonly number[], fit: number): number {
  const run = runs.filter((run) => run <= fit).at(-1) ?? 1;
  if (run >= 4) return run * Math.max(Math.floor(fit / run), 1);
  return 2 ** Math.floor(Math.log2(fit));
}
