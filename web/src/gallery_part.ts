// The gallery: every format of the catalogue and a text of every notation, each a link into the page.

import { isDark, paletteOf } from "./colours.js";
import { h } from "./dom.js";
import { ask, type Facts, type Format, refused, View } from "./engine.js";
import { BANKS, CONVERSIONS, NOTATIONS, STEPS } from "./examples.js";
import { shader } from "./layout_source.js";
import type { PagePart } from "./page.js";
import { type Fields, toHash } from "./state.js";

/** The pixels of a thumbnail. */
const [WIDTH, HEIGHT] = [168, 84];

/** The part of the page to choose from. */
export class GalleryPart implements PagePart {
  readonly element = h("div", { class: "part gallery" });
  private built = false;
  private readonly pictures = new Map<HTMLCanvasElement, { spec: string; dims: string; dtype: string }>();
  private readonly seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      this.seen.unobserve(target);
      this.thumbnail(target as HTMLCanvasElement);
    }
  }, { rootMargin: "200px" });
  private readonly filter = h("input", { type: "search", "aria-label": "Search the gallery", placeholder: "Search names, patterns, sources" });

  restore(fields: Fields): void {
    if (!this.built) this.build();
    this.filter.value = fields["q"] ?? "";
    this.search();
  }

  fields(): Fields {
    return { q: this.filter.value };
  }

  name(): string {
    return "Gallery";
  }

  repaint(): void {
    for (const canvas of this.pictures.keys()) {
      this.seen.unobserve(canvas);
      this.seen.observe(canvas);
    }
  }

  constructor(private readonly changed_: () => void) {
    this.filter.addEventListener("input", () => {
      this.search();
      this.changed_();
    });
  }

  private build(): void {
    this.built = true;
    const formats = ask<{ formats: Format[] }>({ ask: "formats" });
    const catalogue = refused(formats) ? [] : formats.formats;
    this.element.append(
      h("div", { class: "search" }, this.filter),
      section("Conversions", "Source and destination side by side.", CONVERSIONS.map(([title, a, b, dims, dtype = ""]) => {
        const hash = toHash({ part: "convert", fields: { a, b, dims, dtype } });
        return this.card(hash, title, `${a} → ${b}`, `${dims}${dtype ? ` ${dtype}` : ""}`, { spec: b, dims, dtype });
      })),
      section("Steps of the algebra", "Operands and result, linked.", STEPS.map(([title, op, a, b]) => {
        const hash = toHash({ part: "algebra", fields: { op, a, b } });
        const text = op === "expression" ? a : `${op}(${b ? `${a}, ${b}` : a})`;
        return this.card(hash, title, text, "", { spec: text, dims: "", dtype: "" });
      })),
      section("Banks of shared memory", "How often the reads of a warp collide.", BANKS.map(([title, spec, dtype, vector]) => {
        const hash = toHash({ part: "layout", fields: { spec, dtype, colour: "bank", vector: vector === "1" ? "" : vector } });
        const each = `${vector} element${vector === "1" ? "" : "s"} a thread`;
        return this.card(hash, title, spec, `${dtype}, ${each}`, { spec, dims: "", dtype });
      })),
      section("Notations", "The same kind of thing in everybody's words.", NOTATIONS.map(([title, spec, dims = "", dtype = ""]) => {
        const hash = toHash({ part: "layout", fields: { spec, dims, dtype } });
        return this.card(hash, title, spec, [dims, dtype].filter(Boolean).join(" "), { spec, dims, dtype });
      })),
      section("Named formats", "Every format of the catalogue, with its pattern and its source.", catalogue.map((format) => {
        const hash = toHash({ part: "layout", fields: { spec: format.example, colour: "tile" } });
        const names = [format.source, ...format.aliases].join(" · ");
        return this.card(hash, format.name, format.pattern, names, { spec: format.example, dims: "", dtype: "" });
      })),
    );
  }

  private card(hash: string, title: string, text: string, small: string, picture: { spec: string; dims: string; dtype: string }): HTMLElement {
    const canvas = h("canvas", { width: WIDTH * 2, height: HEIGHT * 2, "aria-hidden": "true" });
    this.pictures.set(canvas, picture);
    this.seen.observe(canvas);
    return h("li", {}, h("a", { class: "card", href: hash }, canvas, h("b", {}, title), h("code", {}, text), h("small", {}, small)));
  }

  private search(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const group of this.element.querySelectorAll("section")) {
      let any = false;
      for (const item of group.querySelectorAll("li")) {
        const text = item.textContent!.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
        any ||= !item.hidden;
      }
      group.hidden = !any;
    }
  }

  /** A small picture: the corner of the layout, coloured by the order in memory. */
  private thumbnail(canvas: HTMLCanvasElement): void {
    const { spec, dims, dtype } = this.pictures.get(canvas)!;
    const facts = ask<Facts>({ ask: "view", spec, dims, dtype });
    const view = View.open(spec, dims, dtype);
    const context = canvas.getContext("2d")!;
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (refused(facts) || !view) return;
    draw(context, facts, view);
    view.free();
  }
}

function section(title: string, about: string, cards: HTMLElement[]): HTMLElement {
  return h("section", {}, h("h2", {}, title), h("p", {}, about), h("ul", { class: "cards" }, ...cards));
}

function draw(context: CanvasRenderingContext2D, facts: Facts, view: View): void {
  const { padded, dims, cuts } = facts;
  const rank = dims.length;
  let [rows, columns] = [rank < 2 ? 1 : padded[rank - 2]!, rank < 1 ? 1 : padded[rank - 1]!];
  [rows, columns] = [Math.min(rows, 48), Math.min(columns, 96)];
  const { width, height } = context.canvas;
  const size = Math.min(width / columns, height / rows, 30);
  const offsets = view.grid(new Float64Array(Math.max(rank - 2, 0)), 0, 0, rows, columns);
  const seen = Array.from(offsets).filter((offset) => !Number.isNaN(offset));
  const [low, high] = [Math.min(...seen), Math.max(...seen)];
  const shade = shader({ by: "order", facts: { ...facts, low, capacity: high + 1 }, view });
  const palette = paletteOf("order", isDark());
  const style = getComputedStyle(context.canvas);
  for (let i = 0; i < rows * columns; i++) {
    const [r, c] = [Math.floor(i / columns), i % columns];
    const padding = (rank > 1 && r >= dims[rank - 2]!) || (rank > 0 && c >= dims[rank - 1]!);
    if (Number.isNaN(offsets[i]!)) continue;
    const fill = palette.fills[shade(0, r, c, offsets[i]!)]!;
    context.fillStyle = padding ? style.getPropertyValue("--padding") : `rgb(${fill & 255} ${(fill >> 8) & 255} ${(fill >> 16) & 255})`;
    context.fillRect(c * size, r * size, size - (size > 5 ? 1 : 0), size - (size > 5 ? 1 : 0));
  }
  context.strokeStyle = style.getPropertyValue("--tile-line");
  context.lineWidth = 1.5;
  context.beginPath();
  const [down, across] = [cuts[rank - 2]?.[0] ?? 0, cuts[rank - 1]?.[0] ?? 0];
  for (let r = down; down > 0 && r < rows; r += down) line(context, 0, r * size, columns * size, r * size);
  for (let c = across; across > 0 && c < columns; c += across) line(context, c * size, 0, c * size, rows * size);
  if (Math.max(down, across) * size > 5) context.stroke();
}

function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
}
