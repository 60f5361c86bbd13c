// One layout: its grid, its memory, its meaning.

import { type Colouring, isDark, paletteOf } from "./colours.js";
import { fill, h, saver, select } from "./dom.js";
import { askAssuming, type Assumed, type Facts, refused, View } from "./engine.js";
import { FactsPanel } from "./facts.js";
import { Field } from "./field.js";
import { type Labels, LayoutSource } from "./layout_source.js";
import { MemorySource } from "./memory_source.js";
import { assumes, COLOURINGS, legend, names, type PagePart, picture, point } from "./page.js";
import { Pane } from "./pane.js";
import type { Cell } from "./source.js";
import type { Fields } from "./state.js";

const LABELS: readonly (readonly [Labels, string])[] = [
  ["offset", "cells: offset"],
  ["coordinate", "cells: coordinate"],
  ["number", "cells: row-major number"],
  ["none", "empty cells"],
];

const HINT = "Point at a cell, or walk with the arrow keys.";
const FIRST = "((4,2),(4,3)):((4,16),(1,32))";

/** The part of the page for one layout. */
export class LayoutPart implements PagePart {
  readonly element: HTMLElement;
  private readonly spec = new Field({ label: "Layout, in any notation", kind: "wide", change: () => this.changed(), hint: FIRST });
  private readonly dims = new Field({ label: "Dims", kind: "narrow", hint: "as written", change: () => this.changed() });
  private readonly dtype = new Field({ label: "Element", kind: "narrow", hint: "as written", change: () => this.changed() });
  private readonly labels = select("What stands in the cells", LABELS, () => this.recoloured());
  private readonly colouring = select("What colours mean", COLOURINGS, () => this.recoloured());
  private readonly grid: Pane;
  private readonly memory: Pane;
  private readonly facts = new FactsPanel();
  private readonly key = h("div");
  private readonly picture: HTMLElement;
  private readonly columns: HTMLElement;
  private shown: { facts: Facts; view: View; layout: LayoutSource; memory: MemorySource } | null = null;
  private naming = 0;

  constructor(private readonly changed_: () => void) {
    this.grid = new Pane({ title: "Grid", kind: "main", onPoint: (cell, chosen) => this.pointed(cell, chosen), zoom: () => this.changed_(), tools: [this.labels, this.colouring] });
    this.memory = new Pane({ title: "Memory", kind: "memory", base: 24, onPoint: (cell, chosen) => this.pointedInMemory(cell, chosen) });
    this.picture = h("div", { class: "picture" }, this.grid.element, this.key, this.memory.element);
    this.columns = h("div", { class: "columns" }, this.picture, this.facts.element);
    this.element = h(
      "div",
      { class: "part" },
      h("form", { class: "ask", role: "search", onsubmit: (event) => event.preventDefault() }, this.spec.element, this.dims.element, this.dtype.element),
      this.columns,
    );
    const svg = (kind: string) => () => {
      const { facts } = this.shown ?? {};
      return facts ? picture({ kind, spec: facts.layout, dims: facts.dims, dtype: facts.dtype ?? "" }) : null;
    };
    this.grid.tool(saver("SVG", "Save the grid as SVG", "layout.svg", svg("grid")));
    this.memory.tool(saver("SVG", "Save the memory as SVG", "memory.svg", svg("memory")));
  }

  restore(fields: Fields): void {
    this.spec.value = fields["spec"] ?? FIRST;
    this.dims.value = fields["dims"] ?? "";
    this.dtype.value = fields["dtype"] ?? "";
    this.labels.value = LABELS.some(([name]) => name === fields["cells"]) ? fields["cells"]! : "offset";
    this.colouring.value = COLOURINGS.some(([name]) => name === fields["colour"]) ? fields["colour"]! : "order";
    const zoom = Number(fields["zoom"] ?? 1);
    this.grid.grid.zoom = zoom > 0 && zoom <= 3 ? zoom : 1;
    this.update();
    const at = (fields["at"] ?? "").split(",").map(Number);
    const { shown } = this;
    const there = shown && fields["at"] && at.length === shown.facts.dims.length && at.every((x, dim) => x >= 0 && x < shown.facts.padded[dim]!);
    this.grid.grid.go(there ? shown.layout.cell(at) : null);
  }

  fields(): Fields {
    const cursor = this.grid.grid.position;
    return {
      spec: this.spec.value,
      dims: this.dims.value,
      dtype: this.dtype.value,
      cells: this.labels.value === "offset" ? "" : this.labels.value,
      colour: this.colouring.value === "order" ? "" : this.colouring.value,
      zoom: this.grid.grid.zoom === 1 ? "" : this.grid.grid.zoom.toFixed(2),
      at: cursor && this.shown ? this.shown.layout.coord(cursor).join(",") : "",
    };
  }

  name(): string {
    return this.shown?.facts.layout ?? "Layout";
  }

  repaint(): void {
    this.draw();
  }

  private changed(): void {
    this.update();
    this.changed_();
  }

  private recoloured(): void {
    this.draw();
    this.changed_();
  }

  /** Reads what is typed. What was drawn stays, faint, while the text is wrong. */
  private update(): void {
    const [spec, dims, dtype] = [this.spec.value, this.dims.value, this.dtype.value];
    const { answer, assumed } = askAssuming<Facts>({ ask: "view", spec, dims, dtype });
    point({ spec: this.spec, dims: this.dims, dtype: this.dtype }, refused(answer) ? answer.error : null);
    this.picture.classList.toggle("stale", refused(answer));
    this.facts.element.classList.toggle("stale", refused(answer));
    this.columns.hidden = refused(answer) && !this.shown;
    if (refused(answer)) return;
    this.open(answer, spec, assumed ?? { dims, dtype });
    assumes(this.dims, this.dtype, assumed);
  }

  private open(facts: Facts, spec: string, array: Assumed): void {
    const view = View.open(spec, array.dims, array.dtype);
    if (!view) return;
    const before = this.shown;
    this.shown = { facts, view } as typeof this.shown;
    this.draw();
    before?.view.free();
    this.facts.show(facts);
    clearTimeout(this.naming);
    this.naming = setTimeout(() => this.facts.names(names(facts.layout, array.dims, array.dtype)), 60) as unknown as number;
  }

  private draw(): void {
    if (!this.shown) return;
    const { facts, view } = this.shown;
    const by = this.colouring.value as Colouring;
    const shading = { by, facts, view };
    const layout = new LayoutSource(facts, view, this.labels.value as Labels, shading);
    const memory = new MemorySource(facts, view, shading, (widest) => this.fits(widest));
    this.shown = { facts, view, layout, memory };
    const palette = paletteOf(by, isDark());
    this.grid.grid.show(layout, palette);
    this.memory.grid.show(memory, palette);
    this.grid.title(layout.clipped ? "Grid (its first 2³¹ rows and columns)" : "Grid");
    this.grid.height(90, Math.max(innerHeight * 0.58, 320));
    this.memory.height(70, 220);
    fill(this.key, legend(by, facts));
    this.grid.say(facts.size === 0 ? "An array without elements." : HINT);
    this.memory.say("");
  }

  /** How many cells of memory fit across. */
  private fits(widest: number): number {
    const width = this.memory.grid.element.clientWidth || 800;
    return Math.floor((width - 60) / Math.max(28, widest * 6.3 + 10));
  }

  private pointed(cell: Cell | null, chosen: boolean): void {
    const { shown } = this;
    if (!shown) return;
    this.grid.say(cell ? shown.layout.describe(cell) + shown.layout.sum(cell) : HINT);
    const offset = cell ? shown.layout.offset(cell) : Number.NaN;
    this.memory.grid.mark(Number.isNaN(offset) || offset >= shown.facts.capacity ? [] : [shown.memory.cell(offset)], chosen);
    if (cell && document.activeElement === this.grid.grid.element) this.changed_();
  }

  private pointedInMemory(cell: Cell | null, chosen: boolean): void {
    const { shown } = this;
    if (!shown) return;
    this.memory.say(cell ? shown.memory.describe(cell) : "");
    const coord = cell && shown.memory.coord(shown.memory.offset(cell));
    this.grid.grid.mark(coord ? [shown.layout.cell(coord)] : [], chosen);
  }

}
