// A conversion: source and destination of one array side by side, with the memory of both.

import { type Colouring, isDark, paletteOf } from "./colours.js";
import { button, fill, h, saver, select } from "./dom.js";
import { ask, askAssuming, type Conversion, type Facts, openView, type Plan, refused, type View } from "./engine.js";
import { Field } from "./field.js";
import { LayoutSource, type Shading } from "./layout_source.js";
import { MemorySource } from "./memory_source.js";
import { assumes, intro, Later, legend, line, picture, point, Reader } from "./page.js";
import { Pane } from "./pane.js";
import type { Cell } from "./source.js";
import type { Fields } from "./state.js";

const COLOURS = [
  ["b:tile", "colour: tile of the destination"],
  ["a:order", "colour: order of the source"],
  ["b:order", "colour: order of the destination"],
  ["a:tile", "colour: tile of the source"],
  ["a:none", "no colour"],
] as const;

/** One side: its picture and its memory. */
interface Side {
  facts: Facts;
  view: View;
  layout: LayoutSource;
  memory: MemorySource;
}

/** The part of the page for conversions. */
export class ConvertPart extends Reader {
  readonly element: HTMLElement;
  private readonly a = new Field({ label: "From", kind: "wide", change: () => this.changed() });
  private readonly b = new Field({ label: "To", kind: "wide", change: () => this.changed() });
  private readonly dims = new Field({ label: "Dims", kind: "narrow", hint: "as written", change: () => this.changed() });
  private readonly dtype = new Field({ label: "Element", kind: "narrow", hint: "as written", change: () => this.changed() });
  private readonly colour = select("What colours mean", COLOURS, () => this.recoloured());
  private readonly panes: Pane[];
  private readonly summary = h("div", { class: "summary" });
  private readonly key = h("div");
  private readonly picture: HTMLElement;
  private readonly plan = h("section", { class: "extra", "aria-label": "How the bytes move" });
  private readonly saver = saver("SVG", "Save the conversion as SVG", "conversion.svg", () => this.svg());
  private readonly later = new Later();
  private sides: Side[] = [];

  constructor(told: () => void) {
    super(told);
    const pane = (i: number) => {
      const [side, memory] = [i % 2, i > 1];
      const title = `${memory ? "Memory of the" : "The"} ${side === 0 ? "source" : "destination"}`;
      return new Pane({ title, kind: memory ? "memory" : "main", onPoint: (cell, chosen) => this.pointed(i, cell, chosen) });
    };
    this.panes = [0, 1, 2, 3].map(pane);
    const [a, b, memoryA, memoryB] = this.panes.map((pane) => pane.element);
    this.picture = h("div", { class: "picture" }, h("div", { class: "pair" }, a, b), this.key, h("div", { class: "pair" }, memoryA, memoryB), this.summary, this.plan);
    const swap = button("⇄", "Swap source and destination", () => this.swap(), "sign");
    this.element = h(
      "div",
      { class: "part" },
      intro("convert"),
      h("form", { class: "ask", "aria-label": "What to show", onsubmit: (event) => event.preventDefault() }, this.a.element, swap, this.b.element, this.dims.element, this.dtype.element),
      h("p", { class: "choices" }, this.colour, this.saver),
      this.picture,
    );
  }

  restore(fields: Fields): void {
    const first = fields["a"] === undefined && fields["b"] === undefined;
    this.a.value = fields["a"] ?? (first ? "row-major" : "");
    this.b.value = fields["b"] ?? (first ? "zN[M0=4,C0=4]" : "");
    this.dims.value = fields["dims"] ?? (first ? "8,12" : "");
    this.dtype.value = fields["dtype"] ?? "";
    this.colour.value = COLOURS.some(([name]) => name === fields["colour"]) ? fields["colour"]! : COLOURS[0][0];
    this.forget();
    this.update();
  }

  fields(): Fields {
    const colour = this.colour.value === COLOURS[0][0] ? "" : this.colour.value;
    return { a: this.a.value, b: this.b.value, dims: this.dims.value, dtype: this.dtype.value, colour };
  }

  name(): string {
    return `${this.a.value} → ${this.b.value}`;
  }

  /** Nothing is left of what another address showed. */
  private forget(): void {
    for (const pane of this.panes) pane.grid.clear();
    for (const { view } of this.sides) view.free();
    this.sides = [];
  }

  private svg(): string | null {
    const [a, b] = this.sides.map(({ facts }) => facts);
    return a && b ? picture({ kind: "conversion", a: a.layout, b: b.layout, dims: a.dims, dtype: a.dtype ?? "" }) : null;
  }

  private swap(): void {
    [this.a.value, this.b.value] = [this.b.value, this.a.value];
    this.changed();
  }

  protected update(): void {
    const [dims, dtype] = [this.dims.value, this.dtype.value];
    const { answer, assumed } = askAssuming<Conversion>({ ask: "convert", a: this.a.value, b: this.b.value, dims, dtype });
    point({ a: this.a, b: this.b, dims: this.dims, dtype: this.dtype }, refused(answer) ? answer.error : null);
    this.picture.classList.toggle("stale", refused(answer));
    this.picture.hidden = refused(answer) && this.sides.length === 0;
    if (refused(answer)) return;
    const [a, b] = [answer.a, answer.b].map((facts) => {
      // The text of a resolved layout says its array, unless it is a general one with its array in front.
      const view = openView(facts.layout, facts.dims.join(",") || "()", facts.dtype ?? "");
      return view && { facts, view };
    });
    if (!a || !b) return;
    const before = this.sides;
    this.sides = [a, b] as Side[];
    this.draw();
    for (const side of before) side.view.free();
    // Files are drawn from shape and strides.
    this.saver.hidden = [answer.a, answer.b].some(({ stored }) => stored !== undefined);
    this.summarise(answer);
    this.later.do(() => this.planned(answer));
    assumes(this.dims, this.dtype, assumed);
  }

  protected draw(): void {
    const [a, b] = this.sides;
    if (!a || !b) return;
    const [of, by] = this.colour.value.split(":") as ["a" | "b", Colouring];
    const key = of === "a" ? a : b;
    const shading: Shading = { by, facts: key.facts, view: key.view };
    const palette = paletteOf(by, isDark());
    this.sides.forEach((side, i) => {
      side.layout = new LayoutSource(side.facts, side.view, "offset", shading);
      const [grid, memory] = [this.panes[i]!, this.panes[i + 2]!];
      side.memory = new MemorySource(side.facts, side.view, shading, (widest) => {
        return Math.floor(((memory.grid.element.clientWidth || 500) - 60) / Math.max(26, widest * 6 + 10));
      });
      grid.grid.show(side.layout, palette);
      memory.grid.show(side.memory, palette);
      memory.height(70, 200);
    });
    const high = Math.max(innerHeight * 0.48, 280);
    for (const pane of this.panes.slice(0, 2)) pane.height(90, high);
    const padded = b.facts.padding > 0 ? b.facts : a.facts;
    fill(this.key, legend(by, { ...padded, cuts: [...a.facts.cuts, ...b.facts.cuts] }));
  }

  private summarise({ a, b, same }: Conversion): void {
    const row = (title: string, value: (facts: Facts) => string) => h("tr", {}, h("th", { scope: "row" }, title), h("td", {}, value(a)), h("td", {}, value(b)));
    const [, coord, from, to] = /^differ at (.*): (-?\d+) vs (-?\d+)$/.exec(same) ?? [];
    const moves = coord ? `The first element that moves is ${coord}: from offset ${from} to ${to}.` : `The two ${same}.`;
    const said = same === "same" ? "The two are one map: nothing has to move." : moves;
    fill(
      this.summary,
      h("p", { class: "verdict" }, said),
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("td"), h("th", { scope: "col" }, "source"), h("th", { scope: "col" }, "destination"))),
        h(
          "tbody",
          {},
          row("layout", (facts) => facts.layout),
          ...["capacity", "padding", "contiguous run", "injective"].map((title) => row(title, (facts) => line(facts, title))),
        ),
      ),
    );
  }

  /** How the library would move the bytes: the plan it makes before it moves any. */
  private planned({ a, b }: Conversion): void {
    const dims = a.dims;
    const plan = ask<Plan>({ ask: "plan", a: a.layout, b: b.layout, dims, dtype: b.dtype ?? a.dtype ?? "" });
    const title = h("h2", {}, "How the bytes move");
    if (refused(plan)) {
      fill(this.plan, h("header", {}, title), h("p", {}, `They cannot be moved: ${plan.error.message}.`));
      return;
    }
    const assumed = plan.assumed ? ` Elements of ${plan.bits} bits are assumed.` : "";
    const about = "Each loop: its extent, its step in the source and in the destination, in bytes unless it says otherwise. It is planned without vector registers here; a machine that has them moves other blocks.";
    fill(this.plan, h("header", {}, title), h("pre", { tabindex: 0, "aria-label": "The plan" }, plan.text), h("p", {}, `${about}${assumed}`));
  }

  /** Marks the same element in all four pictures. */
  private pointed(pane: number, cell: Cell | null, chosen: boolean): void {
    const side = this.sides[pane % 2];
    if (!side?.layout) return;
    const coord = cell && (pane < 2 ? side.layout.coord(cell) : side.memory.coord(side.memory.offset(cell)));
    const element = coord && side.layout.holds(coord) ? coord : null;
    this.panes.forEach((other, i) => {
      const { layout, memory } = this.sides[i % 2]!;
      const at = element && layout.cell(element);
      const marks = at ? [i < 2 ? at : memory.cell(layout.offset(at))] : [];
      other.grid.mark(i === pane ? [] : marks, chosen);
      const own = i === pane && cell && (i < 2 ? layout.describe(cell) : memory.describe(cell));
      other.say(own || (at ? layout.describe(at) : ""));
    });
  }
}
