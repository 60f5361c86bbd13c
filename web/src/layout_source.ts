// The grid of a layout: the last two dims are rows and columns, the dims before them panels.

import type { Colouring } from "./colours.js";
import type { Facts, View } from "./engine.js";
import { type Cell, MOST, type Source, type Window } from "./source.js";

/** What stands in the cells. */
export type Labels = "offset" | "coordinate" | "number" | "bank" | "none";

/** Where the colours come from: of the elements of which layout, and by what. */
export interface Shading {
  by: Colouring;
  facts: Facts;
  view: View;
  /** For each cell, the first dim fastest, the group it belongs to: colours and borders are then those of groups. */
  groups?: readonly number[];
}

/** The place of an element of an array, and its offset, as a shade. */
export function shader({ by, facts }: Shading): (outer: number, row: number, column: number, offset: number) => number {
  const low = facts.low;
  const span = Math.max(facts.capacity - low - 1, 1);
  const [rows = 1, columns = 1] = tile(facts);
  switch (by) {
    case "order":
      return (_outer, _row, _column, offset) => Math.max(0, Math.min(255, Math.round(((offset - low) / span) * 255)));
    case "tile":
      return (outer, row, column) => (Math.floor(row / rows) * 3 + Math.floor(column / columns) + outer) % 8;
    case "bank":
      return (_outer, _row, _column, offset) => bank(facts, offset);
    case "none":
      return () => 0;
  }
}

/** The largest tile, in rows and columns. */
function tile(facts: Facts): [number, number] {
  const rank = facts.dims.length;
  const of = (dim: number) => facts.cuts[dim]?.at(-1) ?? Math.max(facts.padded[dim] ?? 1, 1);
  return [of(rank - 2), of(rank - 1)];
}

/** The bank of shared memory that an offset is in; elements of unknown width have 4 bytes. */
function bank(facts: Facts, offset: number): number {
  return ((Math.floor((offset * (facts.element_bits ?? 32)) / 32) % 32) + 32) % 32;
}

/** The most windows that are kept. */
const KEPT = 64;
/** A vector of more elements than fit in a row is folded into rows. */
function foldOf(size: number): number {
  const row = innerWidth < 500 ? 8 : innerWidth < 1000 ? 16 : 32;
  return size > row ? row : 0;
}

/** Coordinates of the dims before the last two, row-major. */
function outerOf(dims: readonly number[], panel: number): number[] {
  const outer = dims.slice(0, Math.max(dims.length - 2, 0));
  const coord = outer.map(() => 0);
  for (let dim = outer.length - 1; dim >= 0; dim--) {
    coord[dim] = panel % outer[dim]!;
    panel = Math.floor(panel / outer[dim]!);
  }
  return coord;
}

/** The panel of a coordinate, row-major over the dims before the last two. */
export function panelOf(dims: readonly number[], coord: readonly number[]): number {
  return dims.slice(0, Math.max(dims.length - 2, 0)).reduce((panel, size, dim) => panel * size + coord[dim]!, 0);
}

/** A layout as cells. */
export class LayoutSource implements Source {
  readonly across: number;
  readonly down: number;
  readonly rows: number;
  readonly columns: number;
  readonly cuts: readonly [readonly number[], readonly number[]];
  readonly widest: number;
  readonly clipped: boolean;
  /** A vector that is folded into rows of this many. */
  private readonly fold: number;
  private readonly shade: ReturnType<typeof shader>;
  private readonly kept = new Map<string, Window>();

  constructor(
    readonly facts: Facts,
    readonly view: View,
    private readonly labels: Labels,
    private readonly shading: Shading,
  ) {
    const { dims, padded } = facts;
    const rank = dims.length;
    const outer = dims.slice(0, Math.max(rank - 2, 0));
    const panels = outer.reduce((all, size) => all * size, 1);
    this.across = Math.max(outer.length > 0 ? outer[outer.length - 1]! : 1, 1);
    this.down = panels === 0 ? 0 : Math.min(panels / this.across, MOST);
    this.fold = rank === 1 ? foldOf(padded[0]!) : 0;
    const whole = rank === 0 ? [1, 1] : rank === 1 ? [1, padded[0]!] : [padded[rank - 2]!, padded[rank - 1]!];
    const [rows, columns] = this.fold ? [Math.ceil(padded[0]! / this.fold), this.fold] : (whole as [number, number]);
    this.rows = Math.min(rows, MOST);
    this.columns = Math.min(columns, MOST);
    this.clipped = rows > MOST || columns > MOST;
    const cuts = (dim: number) => facts.cuts[dim] ?? [];
    this.cuts = this.fold ? [[], cuts(0).filter((size) => size < this.fold)] : [cuts(rank - 2), cuts(rank - 1)];
    this.shade = shader(shading);
    this.widest = this.width();
  }

  private width(): number {
    const { dims, low, capacity, size } = this.facts;
    switch (this.labels) {
      case "offset":
        return Math.max(`${capacity - 1}`.length, `${low}`.length, 2);
      case "coordinate":
        return dims.map((size) => `${size - 1}`.length + 1).reduce((a, b) => a + b, 1);
      case "number":
        return Math.max(`${size - 1}`.length, 2);
      case "bank":
        return 2;
      case "none":
        return 1;
    }
  }

  /** The logical coordinate of a cell, which may be padding. */
  coord(cell: Cell): number[] {
    const { dims } = this.facts;
    if (dims.length === 0) return [];
    if (dims.length === 1) return [this.fold ? cell.row * this.fold + cell.column : cell.column];
    return [...outerOf(dims, cell.panel), cell.row, cell.column];
  }

  /** The cell of a coordinate. */
  cell(coord: readonly number[]): Cell {
    const { dims } = this.facts;
    const last = coord[dims.length - 1] ?? 0;
    if (dims.length < 2) {
      const fold = this.fold || Number.POSITIVE_INFINITY;
      return { panel: 0, row: Math.floor(last / fold), column: this.fold ? last % fold : last };
    }
    return { panel: panelOf(dims, coord), row: coord[dims.length - 2]!, column: last };
  }

  /** Whether a coordinate is one of the array's. */
  holds(coord: readonly number[]): boolean {
    return coord.every((x, dim) => x < this.facts.dims[dim]!);
  }

  /** The offset of a cell, also of padding. */
  offset(cell: Cell): number {
    return this.read(this.view, cell.panel, cell.row, cell.column, 1, 1)[0]!;
  }

  private read(view: View, panel: number, row: number, column: number, rows: number, columns: number, step = 1): Float64Array {
    if (step > 1) return this.sampled(view, panel, row, column, rows, columns, step);
    const outer = new Float64Array(outerOf(this.facts.dims, panel));
    if (!this.fold) return view.grid(outer, row, column, rows, columns);
    const cells = new Float64Array(rows * columns);
    for (let i = 0; i < rows; i++) {
      cells.set(view.grid(outer, 0, (row + i) * this.fold + column, 1, columns), i * columns);
    }
    return cells;
  }

  /** The offsets of cells that are `step` apart; of elements only. */
  private sampled(view: View, panel: number, row: number, column: number, rows: number, columns: number, step: number): Float64Array {
    const rank = this.facts.dims.length;
    const coords = new Float64Array(rows * columns * rank);
    for (let i = 0; i < rows * columns; i++) {
      const cell = { panel, row: row + Math.floor(i / columns) * step, column: column + (i % columns) * step };
      coords.set(this.coord(cell), i * rank);
    }
    return view.offsets(coords);
  }

  title(panel: number): string {
    const outer = outerOf(this.facts.dims, panel);
    return outer.length > 0 ? `[${outer.join(", ")}, :, :]` : "";
  }

  rowLabel(row: number): string {
    if (this.fold) return `${row * this.fold}`;
    return this.facts.dims.length < 2 ? "" : `${row}`;
  }

  columnLabel(column: number): string {
    return this.facts.dims.length < 1 ? "" : this.fold ? `+${column}` : `${column}`;
  }

  window(panel: number, row: number, column: number, rows: number, columns: number, step: number): Window {
    const key = [panel, row, column, rows, columns, step].join();
    const kept = this.kept.get(key);
    if (kept) return kept;
    if (this.kept.size >= KEPT) this.kept.clear();
    const made = this.made(panel, row, column, rows, columns, step);
    this.kept.set(key, made);
    return made;
  }

  private made(panel: number, row: number, column: number, rows: number, columns: number, step: number): Window {
    const own = this.read(this.view, panel, row, column, rows, columns, step);
    const { view, groups } = this.shading;
    const key = view === this.view ? own : this.read(view, panel, row, column, rows, columns, step);
    const [states, shades] = [new Uint8Array(rows * columns), new Uint8Array(rows * columns)];
    const grouped = groups && new Int32Array(rows * columns);
    for (let i = 0; i < states.length; i++) {
      const [r, c] = [row + Math.floor(i / columns) * step, column + (i % columns) * step];
      const inside = this.inside(r, c);
      states[i] = r >= this.rows || c >= this.columns || (Number.isNaN(own[i]!) && (inside || step === 1)) ? 0 : inside ? 1 : 2;
      const [tr, tc] = this.fold ? [0, r * this.fold + c] : [r, c];
      shades[i] = this.shade(panel, tr, tc, key[i]!);
      if (!grouped) continue;
      grouped[i] = groups[index(this, { panel, row: r, column: c })] ?? -1;
      shades[i] = (grouped[i]! * 3 + Math.floor(grouped[i]! / 8)) & 7;
    }
    const label = (i: number) => this.label(panel, row, column, columns, i, own);
    return { states, shades, label, ...(grouped ? { groups: grouped } : {}) };
  }

  /** Whether a row and column are of the array, and no padding. */
  private inside(row: number, column: number): boolean {
    const { dims } = this.facts;
    const rank = dims.length;
    if (this.fold) return row * this.fold + column < dims[0]!;
    return row < (rank < 2 ? 1 : dims[rank - 2]!) && column < (rank < 1 ? 1 : dims[rank - 1]!);
  }

  private label(panel: number, row: number, column: number, columns: number, i: number, own: Float64Array): string {
    if (this.labels === "none") return "";
    const cell = { panel, row: row + Math.floor(i / columns), column: column + (i % columns) };
    if (this.labels === "offset") return this.digits(cell, own[i]!);
    if (this.labels === "bank") return `${bank(this.facts, own[i]!)}`;
    const coord = this.coord(cell);
    if (this.labels === "coordinate") return coord.join(",");
    return this.holds(coord) ? `${number(this.facts.dims, coord)}` : "";
  }

  /** An offset in digits, also where it is more than a number holds. */
  private digits(cell: Cell, offset: number): string {
    return Number.isSafeInteger(offset) ? `${offset}` : this.view.digits(new Float64Array(this.coord(cell)));
  }

  /** How the offset of a cell comes about: each digit times its stride. */
  sum(cell: Cell): string {
    const coord = this.coord(cell);
    const terms: string[] = [];
    let sum = 0;
    this.facts.axes.forEach(({ digits }, dim) => {
      let rest = coord[dim]!;
      digits.forEach(([extent, stride], i) => {
        const digit = i === digits.length - 1 ? rest : rest % extent;
        rest = Math.floor(rest / extent);
        sum += digit * stride;
        if (digit > 0 && stride !== 0) terms.push(`${digit}·${stride}`);
      });
    });
    const offset = this.offset(cell);
    if (terms.length === 0 || !Number.isSafeInteger(offset) || !Number.isSafeInteger(sum)) return "";
    if (sum === offset) return ` = ${terms.join(" + ")}`;
    if (this.facts.swizzled) return `, which the swizzle makes of ${terms.join(" + ")} = ${sum}`;
    return ` = ${offset - sum} + ${terms.join(" + ")}`;
  }

  describe(cell: Cell): string {
    const coord = this.coord(cell);
    const offset = this.offset(cell);
    if (Number.isNaN(offset)) return "no cell";
    const bits = this.facts.element_bits;
    const byte = bits && Number.isSafeInteger(offset * bits) ? `, ${place(offset * bits)}` : "";
    const at = `offset ${this.digits(cell, offset)}${byte}`;
    return this.holds(coord) ? `element (${coord.join(", ")}): ${at}` : `padding at (${coord.join(", ")}): ${at}`;
  }
}

/** The number of a cell, the first dim fastest. */
export function index(source: LayoutSource, cell: Cell): number {
  const coord = source.coord(cell);
  let [weight, at] = [1, 0];
  source.facts.padded.forEach((size, dim) => {
    at += weight * coord[dim]!;
    weight *= size;
  });
  return at;
}

/** The cell of such a number. */
export function cellOf(source: LayoutSource, at: number): Cell {
  return source.cell(
    source.facts.padded.map((size) => {
      const x = at % size;
      at = Math.floor(at / size);
      return x;
    }),
  );
}

/** A bit as byte and bit. */
export function place(bit: number): string {
  const byte = Math.floor(bit / 8);
  return bit === byte * 8 ? `byte ${byte}` : `byte ${byte} bit ${bit - byte * 8}`;
}

/** The row-major number of an element. */
export function number(dims: readonly number[], coord: readonly number[]): number {
  return dims.reduce((all, size, dim) => all * size + coord[dim]!, 0);
}
