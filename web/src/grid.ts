// A grid of cells on a canvas that draws what can be seen, however large the whole is. For those who do not
// see it, it is a grid whose one cell is where the cursor stands.

import type { Palette } from "./colours.js";
import { h, id, say } from "./dom.js";
import { fitting, type Look, lookOf, pitchOf, type Shape, wholeOf } from "./look.js";
import { drawPanel, type Scene, SMALLEST } from "./paint.js";
import { moved } from "./keys.js";
import { type Cell, sameCell, type Source } from "./source.js";

/** What was drawn, for tests: a count says more than a clock. */
export interface Drawn {
  frames: number;
  cells: number;
  labels: number;
}

/** The most pixels that browsers lay out; beyond, the scroll bar is a scale. */
const LONGEST = 8_000_000;

interface Options {
  label: string;
  /** The cell under the pointer or the cursor, or none; `chosen` is the cursor's. */
  onPoint: (cell: Cell | null, chosen: boolean) => void;
  /** The height of a cell at a zoom of 1, and the largest that is chosen by itself. */
  base: number;
  largest: number;
  /** Whether all of it is made to fit, or its width only. */
  whole: boolean;
  zoomed: () => void;
}

/** A grid in the page. */
export class Grid {
  readonly element: HTMLElement;
  readonly drawn: Drawn = { frames: 0, cells: 0, labels: 0 };
  /** The zoom that was chosen; null for the one that uses the room. */
  chosen: number | null = null;
  /** The zoom there is. */
  private zoom = 1;
  /** The height there is room for. */
  private most = 320;
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
    element.addEventListener("dblclick", () => this.closer());
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

  /** Makes cells larger or smaller, around the middle of what can be seen. */
  scale(factor: number): void {
    const least = this.options.whole ? Math.min(fitting(this.source, this.room(), this.shape()), 0.05) : 4 / this.options.base;
    this.set(Math.max(least, Math.min(3, this.zoom * factor)));
  }

  /** Zooms so that the room is used. */
  fit(): void {
    this.set(null);
    this.element.scrollTo(0, 0);
  }

  /** Shows the cell under the cursor at a size at which it can be read. */
  closer(): void {
    if (this.readable) return;
    this.set(1);
    if (this.cursor) this.reveal(this.cursor, true);
  }

  private set(zoom: number | null): void {
    const [x, y] = this.origin();
    const [width, height] = this.whole();
    const middle = [(x + this.width / 2) / width, (y + this.height / 2) / height] as const;
    this.chosen = zoom;
    this.resize();
    this.options.zoomed();
    const [sx, sy] = this.scales();
    const now = this.whole();
    this.element.scrollTo((middle[0] * now[0] - this.width / 2) / sx, (middle[1] * now[1] - this.height / 2) / sy);
  }

  /** Whether what stands in the cells can be read. */
  get readable(): boolean {
    return !!this.source && this.look().font >= SMALLEST;
  }

  /** Says what height there is room for; the height that is needed of it, with room for a scroll bar. */
  within(most: number): number {
    this.most = most;
    if (!this.source) return 0;
    this.resize();
    const [width, height] = this.whole();
    return height + (width > this.width ? 16 : 4);
  }

  private exists(cell: Cell): boolean {
    const { source } = this;
    return !!source && cell.row < source.rows && cell.column < source.columns && cell.panel < source.across * source.down;
  }

  private look(): Look {
    return lookOf(this.source!, this.shape(), this.zoom);
  }

  private shape(): Shape {
    return { base: this.options.base, largest: this.options.largest, whole: this.options.whole };
  }

  private room(): [number, number] {
    return [this.element.clientWidth - 4, this.most - 6];
  }

  private resized(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth !== this.width || clientHeight !== this.height) this.resize();
  }

  private resize(): void {
    const { source, element, canvas } = this;
    if (!source) return;
    [this.width, this.height] = [element.clientWidth, element.clientHeight];
    this.zoom = this.chosen ?? fitting(source, this.room(), this.shape());
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
    return wholeOf(this.source!, this.look());
  }

  /** How far panels are apart. */
  private pitch(): [number, number] {
    return pitchOf(this.source!, this.look());
  }

  /** How many pixels of the picture one pixel of the scroll bar is. */
  private scales(): [number, number] {
    const [width, height] = this.whole();
    const one = (whole: number, view: number) => (whole <= LONGEST ? 1 : (whole - view) / (LONGEST - view));
    return [one(width, this.width), one(height, this.height)];
  }

  private origin(): [number, number] {
    const [sx, sy] = this.scales();
    // What is smaller than the view stands in its middle.
    const [width, height] = this.whole();
    const [dx, dy] = [Math.max(0, (this.width - width) / 2), Math.max(0, (this.height - height) / 2)];
    return [this.element.scrollLeft * sx - Math.floor(dx), this.element.scrollTop * sy - Math.floor(dy)];
  }

  private scrollBy(x: number, y: number): void {
    const [sx, sy] = this.scales();
    this.element.scrollBy(x / sx, y / sy);
  }

  private reveal(cell: Cell, middle = false): void {
    const look = this.look();
    const [width, height] = this.pitch();
    const source = this.source!;
    const [x, y] = this.origin();
    const left = (cell.panel % source.across) * width + look.left + cell.column * look.width;
    const top = Math.floor(cell.panel / source.across) * height + look.top + cell.row * look.height;
    const needed = (at: number, size: number, from: number, view: number, margin: number) =>
      at < from + margin ? at - from - margin : at + size > from + view ? at + size - from - view + 4 : 0;
    const dx = middle ? left - x - this.width / 2 : needed(left, look.width, x, this.width, look.left);
    const dy = middle ? top - y - this.height / 2 : needed(top, look.height, y, this.height, look.top);
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
      this.scale(Math.exp(-event.deltaY / 300));
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
    else if (event.key === "+" || event.key === "=") this.scale(1.25);
    else if (event.key === "-") this.scale(1 / 1.25);
    else if (event.key === "Enter") this.closer();
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
