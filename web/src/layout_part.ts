// One layout: its grid, its memory, its meaning.

import { type Colouring, isDark, paletteOf } from "./colours.js";
import { fill, h, saver, select } from "./dom.js";
import { ask, askAssuming, type Assumed, type Banks, type Facts, openView, refused, type Spread, type View } from "./engine.js";
import { FactsPanel, words } from "./facts.js";
import { Field } from "./field.js";
import { type Labels, LayoutSource } from "./layout_source.js";
import { MemorySource } from "./memory_source.js";
import { assumes, COLOURINGS, Drawn, intro, Later, legend, picture, point, Reader, tiled } from "./page.js";
import { Pane } from "./pane.js";
import type { Cell } from "./source.js";
import type { Fields } from "./state.js";

const LABELS: readonly (readonly [Labels, string])[] = [
  ["offset", "cells: offset"],
  ["coordinate", "cells: coordinate"],
  ["number", "cells: row-major number"],
  ["bank", "cells: bank"],
  ["none", "empty cells"],
];

const VECTORS = ["1", "2", "4", "8", "16"].map((count) => [count, `${count} element${count === "1" ? "" : "s"} a thread`] as const);

const HINT = "Point at a cell, or walk with the arrow keys.";
const FAR = "Too small to read: double-click a cell, or press + or Enter.";
const FIRST = "((4,2),(4,3)):((4,16),(1,32))";

/** The part of the page for one layout. */
export class LayoutPart extends Reader {
  readonly element: HTMLElement;
  private readonly spec = new Field({ label: "Layout, in any notation", kind: "wide", change: () => this.changed(), hint: FIRST });
  private readonly dims = new Field({ label: "Dims", kind: "narrow", hint: "as written", change: () => this.changed() });
  private readonly dtype = new Field({ label: "Element", kind: "narrow", hint: "as written", change: () => this.changed() });
  private readonly labels = select("What stands in the cells", LABELS, (value) => {
    this.chosen.cells = value as Labels;
    this.recoloured();
  });
  private readonly colouring = select("What colours mean", COLOURINGS, (value) => {
    this.chosen.colour = value as Colouring;
    this.recoloured();
  });
  /** What was chosen of these; what was not fits the layout. */
  private chosen: { cells: Labels | ""; colour: Colouring | "" } = { cells: "", colour: "" };
  private readonly grid: Pane;
  private readonly memory: Pane;
  private readonly facts = new FactsPanel();
  private readonly key = h("div");
  private readonly picture: HTMLElement;
  private readonly columns: HTMLElement;
  private shown: { facts: Facts; view: View; layout: LayoutSource; memory: MemorySource } | null = null;
  private readonly vector = select("How many elements a thread reads at once", VECTORS, () => this.recoloured());
  private readonly conflicts = h("div");
  private readonly banks: HTMLElement;
  private readonly banksDrawn = new Drawn();
  private readonly holders: HTMLElement;
  private readonly holdersTitle = h("h2");
  private readonly holdersDrawn = new Drawn();
  private readonly holdersWords = h("dl", { class: "words" });
  private readonly savers: readonly HTMLElement[];
  private readonly naming = new Later();
  private readonly counting = new Later();

  constructor(told: () => void) {
    super(told);
    this.grid = new Pane({ title: "Grid", kind: "main", onPoint: (cell, chosen) => this.pointed(cell, chosen), zoomed: () => this.zoomed(), tools: [this.labels, this.colouring] });
    this.memory = new Pane({ title: "Memory", kind: "memory", onPoint: (cell, chosen) => this.pointedInMemory(cell, chosen) });
    const extra = (title: string, ...children: Node[]) => h("section", { class: "extra", "aria-label": title, hidden: true }, ...children);
    const banks = "Banks of shared memory";
    this.banks = extra(banks, h("header", {}, h("h2", {}, banks), this.vector), this.conflicts, this.banksDrawn.element);
    this.holders = extra("", h("header", {}, this.holdersTitle), h("div", { class: "held" }, this.holdersDrawn.element, this.holdersWords));
    this.picture = h("div", { class: "picture" }, this.grid.element, this.key, this.banks, this.memory.element);
    this.columns = h("div", { class: "columns" }, this.picture, this.facts.element);
    this.element = h(
      "div",
      { class: "part" },
      intro("layout"),
      h("form", { class: "ask", "aria-label": "What to show", onsubmit: (event) => event.preventDefault() }, this.spec.element, this.dims.element, this.dtype.element),
      this.holders,
      this.columns,
    );
    const svg = (kind: string) => () => {
      const { facts } = this.shown ?? {};
      return facts ? picture({ kind, spec: facts.layout, dims: facts.dims, dtype: facts.dtype ?? "" }) : null;
    };
    this.savers = [saver("SVG", "Save the grid as SVG", "layout.svg", svg("grid")), saver("SVG", "Save the memory as SVG", "memory.svg", svg("memory"))];
    [this.grid, this.memory].forEach((pane, i) => pane.tool(this.savers[i]!));
  }

  restore(fields: Fields): void {
    this.spec.value = fields["spec"] ?? FIRST;
    this.dims.value = fields["dims"] ?? "";
    this.dtype.value = fields["dtype"] ?? "";
    this.chosen = {
      cells: LABELS.find(([name]) => name === fields["cells"])?.[0] ?? "",
      colour: COLOURINGS.find(([name]) => name === fields["colour"])?.[0] ?? "",
    };
    this.vector.value = VECTORS.some(([count]) => count === fields["vector"]) ? fields["vector"]! : VECTORS[0]![0];
    const zoom = Number(fields["zoom"] ?? 0);
    this.grid.grid.chosen = zoom > 0 && zoom <= 3 ? zoom : null;
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
      ...this.chosen,
      vector: this.vector.value === VECTORS[0]![0] ? "" : this.vector.value,
      zoom: this.grid.grid.chosen === null ? "" : `${Number(this.grid.grid.chosen.toPrecision(3))}`,
      at: cursor && this.shown ? this.shown.layout.coord(cursor).join(",") : "",
    };
  }

  name(): string {
    return this.shown?.facts.layout ?? "Layout";
  }

  /** Reads what is typed. What was drawn stays, faint, while the text is wrong. */
  protected update(): void {
    const [spec, dims, dtype] = [this.spec.value, this.dims.value, this.dtype.value];
    const { answer, assumed } = askAssuming<Facts>({ ask: "view", spec, dims, dtype });
    point({ spec: this.spec, dims: this.dims, dtype: this.dtype }, refused(answer) ? answer.error : null);
    this.picture.classList.toggle("stale", refused(answer));
    this.facts.element.classList.toggle("stale", refused(answer));
    this.columns.hidden = refused(answer) && !this.shown;
    this.naming.do(() => this.looked(spec, assumed ?? { dims, dtype }, refused(answer) ? null : answer));
    if (refused(answer)) return;
    this.open(answer, spec, assumed ?? { dims, dtype });
    assumes(this.dims, this.dtype, assumed);
  }

  private open(facts: Facts, spec: string, array: Assumed): void {
    const view = openView(spec, array.dims, array.dtype);
    if (!view) return;
    const before = this.shown;
    this.shown = { facts, view } as typeof this.shown;
    this.draw();
    before?.view.free();
    this.facts.show(facts);
    // Files are drawn from shape and strides.
    for (const saver of this.savers) saver.hidden = facts.stored !== undefined;
  }

  /** What takes longer than a key may: who holds what of a layout that is spread over threads. */
  private looked(spec: string, { dims, dtype }: Assumed, facts: Facts | null): void {
    const spread = ask<Spread | null>({ ask: "spread", spec, dims, dtype });
    const found = refused(spread) ? null : spread;
    const title = found?.title ?? "";
    if (found && !facts) {
      // A map that is no layout of an array is no mistake either: its picture is all there is to show.
      point({ spec: this.spec, dims: this.dims, dtype: this.dtype }, null);
      this.columns.hidden = true;
      for (const one of [this.picture, this.facts.element]) one.classList.remove("stale");
    }
    this.holders.hidden = !found;
    this.holders.setAttribute("aria-label", title);
    this.holdersTitle.textContent = title;
    fill(this.holdersWords, ...words(found?.lines ?? []));
    this.holdersDrawn.show(found?.svg ?? null, found ? `${title}: ${found.map}` : "");
  }

  /** The conflicts of reads in shared memory. */
  private counted(facts: Facts): void {
    const { layout: spec, dims, dtype } = facts;
    const banks = ask<Banks>({ ask: "banks", spec, dims, dtype: dtype ?? "", vector: Number(this.vector.value) });
    if (refused(banks)) {
      fill(this.conflicts, h("p", {}, `Not counted: ${banks.error.message}.`));
      this.banksDrawn.show(null, "");
      return;
    }
    const assumed = banks.assumed ? [`elements of ${banks.bits} bits are assumed; say otherwise under Element`] : [];
    fill(this.conflicts, h("ul", {}, ...[...banks.notes, ...assumed].map((note) => h("li", {}, note))));
    this.banksDrawn.show(banks.svg, banks.notes[0] ?? "");
  }

  protected draw(): void {
    if (!this.shown) return;
    const { facts, view } = this.shown;
    const by = this.chosen.colour || (tiled(facts) ? "tile" : "order");
    const cells = this.chosen.cells || (by === "bank" ? "bank" : "offset");
    [this.colouring.value, this.labels.value] = [by, cells];
    const shading = { by, facts, view };
    const layout = new LayoutSource(facts, view, cells, shading);
    const memory = new MemorySource(facts, view, shading, (widest) => this.fits(widest));
    this.shown = { facts, view, layout, memory };
    const palette = paletteOf(by, isDark());
    this.grid.grid.show(layout, palette);
    this.memory.grid.show(memory, palette);
    this.grid.title(layout.clipped ? "Grid (its first 2³¹ rows and columns)" : "Grid");
    this.grid.height(70, Math.max(innerHeight * 0.58, 320));
    this.memory.height(60, 240);
    fill(this.key, legend(by, facts));
    this.banks.hidden = by !== "bank";
    if (by === "bank") this.counting.do(() => this.counted(facts));
    this.grid.say(this.hint());
    this.memory.say(sparse(facts));
  }

  private zoomed(): void {
    if (!this.grid.grid.position) this.grid.say(this.hint());
    this.moved();
  }

  /** What to do where nothing is pointed at. */
  private hint(): string {
    if (this.shown?.facts.size === 0) return "An array without elements.";
    return this.grid.grid.readable || this.labels.value === "none" ? HINT : FAR;
  }

  /** How many cells of memory fit across. */
  private fits(widest: number): number {
    const width = this.memory.grid.element.clientWidth || 800;
    return Math.floor((width - 60) / Math.max(28, widest * 6.3 + 10));
  }

  private pointed(cell: Cell | null, chosen: boolean): void {
    const { shown } = this;
    if (!shown) return;
    this.grid.say(cell ? shown.layout.describe(cell) + shown.layout.sum(cell) : this.hint());
    const offset = cell ? shown.layout.offset(cell) : Number.NaN;
    this.memory.grid.mark(Number.isNaN(offset) || offset >= shown.facts.capacity ? [] : [shown.memory.cell(offset)], chosen);
    if (cell && document.activeElement === this.grid.grid.element) this.moved();
  }

  private pointedInMemory(cell: Cell | null, chosen: boolean): void {
    const { shown } = this;
    if (!shown) return;
    this.memory.say(cell ? shown.memory.describe(cell) : sparse(shown.facts));
    const coord = cell && shown.memory.coord(shown.memory.offset(cell));
    this.grid.grid.mark(coord ? [shown.layout.cell(coord)] : [], chosen);
  }
}

/** A word on memory in which elements are few and far between. */
function sparse({ size, capacity }: Facts): string {
  return capacity > 4096 && size * 4 < capacity ? "Mostly padding: choose a cell of the grid to go where it lies." : "";
}
