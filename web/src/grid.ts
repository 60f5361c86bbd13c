// A grid of cells on a canvas that draws what can be seen, however large the whole is. For those who do not
// see it, it is a grid whose one cell is where the cursor stands.

import type { Palette } from "./colours.js";
import { h, id, say } from "./dom.js";
import { drawPanel, type Look, type Scene } from "./paint.js";
import { type Cell, sameCell, type Source } from "./source.js";

/** What was drawn, for tests: a count says more than a clock. */
export interface Drawn {
  frames: number;
  cells: number;
  labels: number;
}

/** The most pixels that browsers lay out; beyond, the scroll bar is a scale. */
const LONGEST = 8_000_000;
const GAP = 22;

interface Options {
  label: string;
  /** The cell under the pointer or the cursor, or none; `chosen` is the cursor's. */
  onPoint: (cell: Cell | null, chosen: boolean) => void;
  /** The height of a cell at a zoom of 1. */
  base?: number;
  zoom?: (zoom: number) => void;
}

/** A grid in the page. */
export class Grid {
  readonly element: HTMLElement;
  readonly drawn: Drawn = { frames: 0, cells: 0, labels: 0 };
  zoom = 1;
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  private readonly sizer = h("div", { class: "sizer" });
  private readonly row: HTMLElement;
  private readonly gridcell: HTMLElement;
  private source: Source | null = null;
  private palette: Palette | null = null;
  private marks: readonly Cell[] = [];
  private cursor: Cell | null = null;
  private hover: Cell | null = null;
  private asked = 0;
  private width = 0;
  private height = 0;

  constructor(private readonly options: Options) {
    this.gridcell = h("div", { role: "gridcell", id: id("cell") });
    this.row = h("div", { role: "row", class: "unseen" }, this.gridcell);
    this.element = h(
      "div",
      { class: "grid", role: "grid", tabindex: 0, "aria-label": options.label, "aria-readonly": "true" },
      this.canvas,
      this.sizer,
      this.row,
    );
    const { element } = this;
    Object.assign(element, { drawn: this.drawn });
    element.addEventListener("scroll", () => this.ask(), { passive: true });
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("pointermove", (event) => this.point(this.at(event)));
    element.addEventListener("pointerleave", () => this.point(null));
    element.addEventListener("click", (event) => this.go(this.at(event), false));
    element.addEventListener("focus", () => this.entered());
    element.addEventListener("blur", () => this.ask());
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    new ResizeObserver(() => this.resized()).observe(element);
  }

  /** Shows other cells, or the same in other colours. The cursor stays where it can. */
  show(source: Source, palette: Palette): void {
    this.source = source;
    this.palette = palette;
    const { across, down, rows, columns } = source;
    this.element.setAttribute("aria-rowcount", `${rows * down}`);
    this.element.setAttribute("aria-colcount", `${columns * across}`);
    if (this.cursor && !this.exists(this.cursor)) this.cursor = null;
    this.marks = [];
    this.hover = null;
    this.resize();
    this.described();
  }

  /** Shows nothing: what was shown may be gone. */
  clear(): void {
    this.source = null;
    this.marks = [];
    this.hover = this.cursor = null;
    this.described();
  }

  /** Marks cells: those that belong to what is pointed at elsewhere; the first comes into view if it is chosen. */
  mark(cells: readonly Cell[], chosen = false): void {
    if (cells.length === 0 && this.marks.length === 0) return;
    this.marks = cells;
    if (chosen && cells[0] && this.exists(cells[0])) this.reveal(cells[0]);
    this.ask();
  }

  /** The cell the cursor is on. */
  get position(): Cell | null {
    return this.cursor;
  }

  /** Puts the cursor on a cell. */
  go(cell: Cell | null, scroll = true): void {
    if (cell && !this.exists(cell)) return;
    this.cursor = cell;
    if (cell && scroll) this.reveal(cell);
    this.described();
    this.options.onPoint(cell, true);
    this.ask();
  }

  /** Makes cells larger or smaller; where the whole fits there is no need to. */
  scale(zoom: number): void {
    this.zoom = Math.max(0.05, Math.min(3, zoom));
    this.resize();
    this.options.zoom?.(this.zoom);
  }

  /** Zooms so that a whole panel can be seen. */
  fit(): void {
    const { source } = this;
    if (!source) return;
    const look = this.look(1);
    const across = (this.element.clientWidth - look.left - 2) / (source.columns * look.width);
    const down = (this.element.clientHeight - look.top - 2) / (source.rows * look.height);
    this.scale(Math.min(1, across, down));
    this.element.scrollTo(0, 0);
  }

  /** The height that shows all of it, with room for a scroll bar. */
  get needed(): number {
    return this.source ? this.whole()[1] + 14 : 0;
  }

  private exists(cell: Cell): boolean {
    const { source } = this;
    return !!source && cell.row < source.rows && cell.column < source.columns && cell.panel < source.across * source.down;
  }

  /** The sizes of everything at a zoom. */
  private look(zoom = this.zoom): Look {
    const source = this.source!;
    const height = Math.max((this.options.base ?? 30) * zoom, 1);
    const font = Math.min(height * 0.42, 15);
    const width = Math.max(height * 1.15, font >= 6.5 ? source.widest * font * 0.62 + 10 * zoom : 0);
    const last = source.rowLabel(Math.max(source.rows - 1, 0));
    const left = last ? Math.max(last.length * 7.2 + 14, 30) : 10;
    const title = source.title(source.across * source.down - 1);
    // The width of its title is the least of a panel.
    const room = left + Math.max(source.columns * width, title.length * 7.4);
    return { width, height, font, left, room, title: title ? 22 : 0, top: (title ? 22 : 0) + 22 };
  }

  private resized(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth !== this.width || clientHeight !== this.height) this.resize();
  }

  private resize(): void {
    const { source, element, canvas } = this;
    if (!source) return;
    [this.width, this.height] = [element.clientWidth, element.clientHeight];
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(this.width * ratio));
    canvas.height = Math.max(1, Math.round(this.height * ratio));
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${this.height}px`;
    const [width, height] = this.whole();
    this.sizer.style.width = `${Math.min(width, LONGEST)}px`;
    this.sizer.style.height = `${Math.min(height, LONGEST)}px`;
    this.ask();
  }

  /** The size of the whole picture in pixels. */
  private whole(): [number, number] {
    const [width, height] = this.pitch();
    const { across, down } = this.source!;
    return [across * width - GAP + 4, down * height - GAP + 4];
  }

  /** How far panels are apart. */
  private pitch(): [number, number] {
    const look = this.look();
    const { rows } = this.source!;
    return [look.room + GAP, look.top + rows * look.height + GAP];
  }

  /** How many pixels of the picture one pixel of the scroll bar is. */
  private scales(): [number, number] {
    const [width, height] = this.whole();
    const one = (whole: number, view: number) => (whole <= LONGEST ? 1 : (whole - view) / (LONGEST - view));
    return [one(width, this.width), one(height, this.height)];
  }

  private origin(): [number, number] {
    const [sx, sy] = this.scales();
    return [this.element.scrollLeft * sx, this.element.scrollTop * sy];
  }

  private scrollBy(x: number, y: number): void {
    const [sx, sy] = this.scales();
    this.element.scrollBy(x / sx, y / sy);
  }

  private reveal(cell: Cell): void {
    const look = this.look();
    const [width, height] = this.pitch();
    const source = this.source!;
    const [x, y] = this.origin();
    const left = (cell.panel % source.across) * width + look.left + cell.column * look.width;
    const top = Math.floor(cell.panel / source.across) * height + look.top + cell.row * look.height;
    const needed = (at: number, size: number, from: number, view: number, margin: number) =>
      at < from + margin ? at - from - margin : at + size > from + view ? at + size - from - view + 4 : 0;
    const dx = needed(left, look.width, x, this.width, look.left);
    const dy = needed(top, look.height, y, this.height, look.top);
    if (dx !== 0 || dy !== 0) this.scrollBy(dx, dy);
  }

  /** The cell under the pointer. */
  private at(event: MouseEvent): Cell | null {
    const { source } = this;
    if (!source) return null;
    const box = this.element.getBoundingClientRect();
    const [x0, y0] = this.origin();
    const [x, y] = [event.clientX - box.left - this.element.clientLeft + x0, event.clientY - box.top - this.element.clientTop + y0];
    const look = this.look();
    const [width, height] = this.pitch();
    const [i, j] = [Math.floor(x / width), Math.floor(y / height)];
    const column = Math.floor((x - i * width - look.left) / look.width);
    const row = Math.floor((y - j * height - look.top) / look.height);
    const inside = i < source.across && j < source.down && row >= 0 && column >= 0 && row < source.rows && column < source.columns;
    return inside ? { panel: j * source.across + i, row, column } : null;
  }

  private point(cell: Cell | null): void {
    if (sameCell(cell, this.hover)) return;
    this.hover = cell;
    this.options.onPoint(cell ?? this.cursor, false);
    this.ask();
  }

  private entered(): void {
    if (!this.cursor && this.source && this.exists({ panel: 0, row: 0, column: 0 })) this.go({ panel: 0, row: 0, column: 0 });
    else this.ask();
  }

  private wheel(event: WheelEvent): void {
    const [sx, sy] = this.scales();
    if (event.ctrlKey) {
      event.preventDefault();
      this.scale(this.zoom * Math.exp(-event.deltaY / 300));
    } else if (sx !== 1 || sy !== 1) {
      event.preventDefault();
      this.scrollBy(event.deltaX, event.deltaY);
    }
  }

  private key(event: KeyboardEvent): void {
    const { source } = this;
    if (!source || event.altKey || event.metaKey) return;
    const cell = this.cursor ?? { panel: 0, row: 0, column: 0 };
    const page = Math.max(1, Math.floor((this.height - 40) / this.look().height));
    const next = moved(event, cell, source, page);
    if (next) this.go(next);
    else if (event.key === "+" || event.key === "=") this.scale(this.zoom * 1.25);
    else if (event.key === "-") this.scale(this.zoom / 1.25);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.go(null);
    else return;
    event.preventDefault();
  }

  /** Tells where the cursor is. */
  private described(): void {
    const { cursor, source } = this;
    if (!cursor || !source) {
      this.element.removeAttribute("aria-activedescendant");
      this.gridcell.textContent = "";
      return;
    }
    const row = Math.floor(cursor.panel / source.across) * source.rows + cursor.row;
    const column = (cursor.panel % source.across) * source.columns + cursor.column;
    this.row.setAttribute("aria-rowindex", `${row + 1}`);
    this.gridcell.setAttribute("aria-colindex", `${column + 1}`);
    this.gridcell.textContent = source.describe(cursor);
    this.element.setAttribute("aria-activedescendant", this.gridcell.id);
    if (document.activeElement === this.element) say(this.gridcell.textContent);
  }

  /** Draws with the next frame. */
  private ask(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
    });
  }

  /** Draws what can be seen. */
  draw(): void {
    const { source, palette, canvas } = this;
    const context = canvas.getContext("2d");
    if (!source || !palette || !context || this.width === 0) return;
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const [x, y] = this.origin();
    const [width, height] = this.pitch();
    const style = getComputedStyle(this.element);
    const scene: Scene = {
      context, source, palette, style,
      look: this.look(),
      view: [this.width, this.height],
      hover: this.hover,
      cursor: this.cursor,
      marks: this.marks,
    };
    this.drawn.frames += 1;
    if (this.drawn.frames === 1) performance.mark("picture");
    this.drawn.cells = 0;
    this.drawn.labels = 0;
    const ends = (from: number, view: number, pitch: number, count: number): [number, number] => [
      Math.max(0, Math.floor(from / pitch)),
      Math.min(count, Math.floor((from + view) / pitch) + 1),
    ];
    const [i0, i1] = ends(x, this.width, width, source.across);
    const [j0, j1] = ends(y, this.height, height, source.down);
    for (let j = j0; j < j1; j++) {
      for (let i = i0; i < i1; i++) {
        const { cells, labels } = drawPanel(scene, j * source.across + i, i * width - x, j * height - y);
        this.drawn.cells += cells;
        this.drawn.labels += labels;
      }
    }
  }
}

/** Where a key leads from a cell. */
function moved(event: KeyboardEvent, cell: Cell, source: Source, page: number): Cell | null {
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
