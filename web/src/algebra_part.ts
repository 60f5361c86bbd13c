// One step of the algebra: A, B and what they give, with the cells that belong together.

import { isDark, paletteOf } from "./colours.js";
import { copier, fill, h, saver, select } from "./dom.js";
import { ask, type Facts, openView, type Refusal, refused, type Step, type Value, type View } from "./engine.js";
import { Field } from "./field.js";
import { cellOf, index, LayoutSource } from "./layout_source.js";
import { Drawn, intro, Later, picture, point, Reader } from "./page.js";
import { Pane } from "./pane.js";
import type { Cell } from "./source.js";
import { type Fields, toHash } from "./state.js";

/** Instead of an operation: the whole as one text. */
const ANY = "expression";

/** The operations with an example of their second operand; none where there is none. */
const OPERATIONS: readonly (readonly [name: string, b: string | null, about: string])[] = [
  ["composition", "(3,4):(2,6)", "R(i) = A(B(i)): B picks cells of A by their number."],
  ["logical_divide", "<3,4>", "A cut into tiles, each axis apart: (tile, rest) per axis."],
  ["zipped_divide", "<3,4>", "A cut into tiles: the tile is axis 0, the tiles are axis 1."],
  ["tiled_divide", "<3,4>", "A cut into tiles: the tile is axis 0, an axis more per axis of A."],
  ["flat_divide", "<3,4>", "A cut into tiles, every axis of tile and rest on its own."],
  ["logical_product", "(2,2):(1,2)", "A repeated as B says: A is axis 0, its copies axis 1."],
  ["zipped_product", "(2,2):(1,2)", "A repeated as B says, brackets as of zipped_divide."],
  ["blocked_product", "(2,3):(1,2)", "Blocks of A laid out as B, axis by axis."],
  ["raked_product", "(2,3):(1,2)", "A interleaved as B says, axis by axis."],
  ["make_layout_tv", "(1,2):(2,1)", "A are the threads, B the values of each: who owns which element of the tile."],
  ["complement", "24", "What A leaves out of the first n offsets."],
  ["coalesce", null, "The same map with as few modes as can be."],
  ["flatten", null, "The same map without brackets."],
  ["right_inverse", null, "A(R(i)) = i: from offsets back to cells."],
  ["left_inverse", null, "R(A(i)) = i: from offsets back to cells."],
  [ANY, null, "Any expression of the language: calls in one another, o for composition, layouts of other notations in quotes."],
];

interface Operand {
  value: Value | null;
  view: View | null;
  source: LayoutSource | null;
}

/** The part of the page for the algebra. */
export class AlgebraPart extends Reader {
  readonly element: HTMLElement;
  private readonly op = select("Operation", OPERATIONS.map(([name]) => [name, name]), () => this.chosen());
  private readonly a = new Field({ label: "A", kind: "wide", change: () => this.changed() });
  private readonly b = new Field({ label: "B", kind: "wide", change: () => this.changed() });
  private readonly panes: Pane[];
  private readonly about = h("p", { class: "about" });
  private readonly answer = h("p", { class: "answer" });
  private readonly picture: HTMLElement;
  private readonly row = h("div", { class: "operands" });
  private operands: Operand[] = [];
  private readonly drawn = new Drawn();
  private readonly drawing = new Later();
  private step: Step | null = null;

  constructor(told: () => void) {
    super(told);
    this.panes = ["A", "B", "Result"].map((title, i) => new Pane({ title, kind: "main", onPoint: (cell, chosen) => this.pointed(i, cell, chosen) }));
    const [a, b, result] = this.panes.map((pane) => pane.element);
    this.picture = h("div", { class: "picture" }, this.answer, this.drawn.element, this.row);
    this.row.append(h("div", { class: "picture" }, a!, b!), result!);
    this.element = h(
      "div",
      { class: "part" },
      intro("algebra"),
      h("form", { class: "ask", "aria-label": "What to show", onsubmit: (event) => event.preventDefault() }, h("div", { class: "field" }, h("label", {}, "Operation"), this.op), this.a.element, this.b.element),
      this.about,
      this.picture,
    );
  }

  restore(fields: Fields): void {
    this.op.value = OPERATIONS.some(([name]) => name === fields["op"]) ? fields["op"]! : "zipped_divide";
    this.a.value = fields["a"] ?? "(6,8):(8,1)";
    this.b.value = fields["b"] ?? (fields["a"] === undefined ? (this.operation()[1] ?? "") : "");
    this.update();
  }

  fields(): Fields {
    return { op: this.op.value, a: this.a.value, b: this.operation()[1] === null ? "" : this.b.value };
  }

  name(): string {
    return this.step?.expression ?? "Algebra";
  }

  private operation(): (typeof OPERATIONS)[number] {
    return OPERATIONS.find(([name]) => name === this.op.value)!;
  }

  /** Another operation: where the second operand no longer makes sense, its example stands in. */
  private chosen(): void {
    const example = this.operation()[1];
    if (this.op.value === ANY && this.step?.a) this.a.value = this.step.expression;
    if (refused(this.ask()) && example !== null) this.b.value = example;
    this.changed();
  }

  private ask(): Step | { error: Refusal } {
    const [name, example] = this.operation();
    return ask<Step>({ ask: "step", op: name === ANY ? "" : name, a: this.a.value, b: example === null ? "" : this.b.value });
  }

  protected update(): void {
    const [op, example] = this.operation();
    this.a.element.querySelector("label")!.textContent = op === ANY ? "Expression" : "A";
    this.b.element.hidden = example === null;
    const answer = this.ask();
    const fields = { a: this.a, b: this.b };
    const whole = refused(answer) && answer.error.field === "result";
    point(fields, refused(answer) && !whole ? answer.error : null);
    this.picture.classList.toggle("stale", refused(answer));
    this.answer.classList.toggle("wrong", whole);
    if (refused(answer)) {
      if (whole) fill(this.answer, answer.error.message);
      return;
    }
    this.step = answer;
    for (const { view } of this.operands) view?.free();
    this.operands = [answer.a, answer.b, answer.result].map((value) => ({
      value,
      view: value?.view ? (openView(value.view.layout, "", "") ?? null) : null,
      source: null,
    }));
    const { text, view } = answer.result;
    const link = view && h("a", { href: toHash({ part: "layout", fields: { spec: text } }) }, "Open");
    const svg = () => picture({ kind: "expression", text: answer.expression });
    const save = answer.drawn && saver("SVG", "Save the step as SVG", "step.svg", svg);
    this.drawing.do(() => this.owned(answer, svg));
    fill(this.answer, h("code", {}, `${answer.expression} = `), h("code", { class: "strong" }, text), " ", copier(() => text, "Copy the result"), save, link);
    this.draw();
  }

  /** What grids do not show: who owns what, and maps that are not layouts. */
  private owned({ expression, result, drawn }: Step, svg: () => string | null): void {
    const dealt = expression.startsWith("make_layout_tv");
    const shown = drawn && (dealt || !result.view);
    const says = dealt ? "The thread and the value that own each element" : "Where each cell is sent";
    this.drawn.show(shown ? svg() : null, shown ? `${says}: ${result.text}` : "");
  }

  protected draw(): void {
    const groups = this.groups();
    this.row.classList.toggle("alone", this.operands.slice(0, 2).every(({ view }) => !view));
    this.operands.forEach(({ value, view }, i) => {
      const pane = this.panes[i]!;
      const facts: Facts | null = value?.view ?? null;
      const shown = !!facts && !!view && facts.size > 0;
      pane.element.hidden = !shown;
      if (!shown) {
        pane.grid.clear();
        return;
      }
      const own = groups[i];
      const source = new LayoutSource(facts, view, "offset", { by: "order", facts: this.scale(i, facts), view, ...(own ? { groups: own } : {}) });
      this.operands[i]!.source = source;
      pane.title(`${["A", "B", "Result"][i]}  ${value!.text}`);
      pane.grid.show(source, paletteOf(own ? "tile" : "order", isDark()));
      pane.height(60, Math.max(innerHeight * (i < 2 ? 0.32 : 0.6), i < 2 ? 200 : 320));
      pane.say("");
    });
    fill(this.about, this.operation()[2], ...(groups.some((own) => own) ? [" Each tile or copy of A has a colour and a border."] : []));
  }

  /** For each picture the tile or copy of A that its cells are in; none where a cell is in several, or all in one. */
  private groups(): (number[] | null)[] {
    const { links } = this.step ?? {};
    if (!links || new Set(links.tiles).size < 2) return [null, null, null];
    return [groupsOf(links.a, links.tiles), groupsOf(links.b, links.tiles), links.tiles];
  }

  /** A and the result share their offsets, and so their colours. */
  private scale(i: number, own: Facts): Facts {
    const [a, , result] = this.operands.map(({ value }) => value?.view);
    if (i === 1 || !a || !result) return own;
    return { ...own, low: Math.min(a.low, result.low), capacity: Math.max(a.capacity, result.capacity) };
  }

  private pointed(pane: number, cell: Cell | null, chosen: boolean): void {
    const { links } = this.step ?? {};
    const marks: Cell[][] = [[], [], []];
    const own = this.operands[pane]?.source;
    if (cell && own && links) {
      const at = index(own, cell);
      if (pane === 2) {
        if (at >= 0) this.markOperands(marks, links, at);
      } else {
        const side = pane === 0 ? links.a : links.b;
        const from = side.flatMap((one, i) => (one === at ? [i] : []));
        marks[2] = from.slice(0, 400).map((i) => cellOf(this.operands[2]!.source!, i));
      }
    }
    this.panes.forEach((other, i) => {
      other.grid.mark(marks[i]!, chosen);
      const { source } = this.operands[i] ?? {};
      const said = i === pane ? cell && own && own.describe(cell) : marks[i]!.length === 1 && source ? source.describe(marks[i]![0]!) : marks[i]!.length > 1 ? `${marks[i]!.length} cells` : "";
      other.say(said || "");
    });
  }

  private markOperands(marks: Cell[][], links: { a: number[]; b: number[] }, at: number): void {
    [links.a[at] ?? -1, links.b[at] ?? -1].forEach((from, i) => {
      const { source } = this.operands[i]!;
      if (from >= 0 && source && from < source.facts.size) marks[i] = [cellOf(source, from)];
    });
  }
}

/** The tiles of cells that each have one: `from` tells the cell of each that is in a tile. */
function groupsOf(from: readonly number[], tiles: readonly number[]): number[] | null {
  const groups: number[] = [];
  for (const [i, cell] of from.entries()) {
    if (cell < 0) continue;
    if (groups[cell] !== undefined && groups[cell] !== tiles[i]) return null;
    groups[cell] = tiles[i]!;
  }
  return groups;
}
