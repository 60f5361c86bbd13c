// The gallery: every format of the catalogue and a text of every notation, each a link into the page.

import { button, fill, h } from "./dom.js";
import { ask, type Format, lateMissing, loadLate, refused, type TabledFormat } from "./engine.js";
import { BANKS, CONVERSIONS, NOTATIONS, STEPS } from "./examples.js";
import { intro, type PagePart } from "./page.js";
import { type Fields, toHash } from "./state.js";
import { type Preview, thumbnail } from "./thumbnail.js";

/** The pixels of a thumbnail. */
const [WIDTH, HEIGHT] = [440, 176];
/** The most other names of a format that a card lists. */
const ALIASES = 4;

/** A card: where it leads, and what it says and shows. */
interface Card {
  hash: string;
  title: string;
  text: string;
  small: string;
  preview: Preview;
}

/** The part of the page to choose from. */
export class GalleryPart implements PagePart {
  readonly element = h("div", { class: "part gallery" });
  /** Why the late module was missing when the cards were built, null if it was loaded; undefined before they are built. */
  private missing: string | null | undefined;
  private readonly pictures = new Map<HTMLCanvasElement, Preview>();
  private readonly seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      this.seen.unobserve(target);
      thumbnail(target as HTMLCanvasElement, this.pictures.get(target as HTMLCanvasElement)!);
    }
  }, { rootMargin: "200px" });
  private readonly filter = h("input", { type: "search", "aria-label": "Search the gallery", placeholder: "Search names, makers, patterns" });
  private readonly ways = h("nav", { class: "chips", "aria-label": "Groups of the gallery" });
  private readonly nothing = h("p", { class: "failed", hidden: true }, "Nothing here has all of these words.");

  restore(fields: Fields): void {
    if (this.missing !== lateMissing()) this.build();
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
    loadLate();
    this.missing = lateMissing();
    this.pictures.clear();
    const formats = ask<{ formats: Format[]; tabled?: TabledFormat[] }>({ ask: "formats" });
    const { tabled = [] } = refused(formats) ? {} : formats;
    const sections = [
      this.section("Conversions", "Source and destination side by side.", CONVERSIONS.map(conversion)),
      this.section("Steps of the algebra", "The first operand, and the result.", STEPS.map(step)),
      this.section("Banks of shared memory", "How often the reads of a warp collide.", BANKS.map(bank)),
      this.section("Notations", "The same kind of thing in everybody's words.", NOTATIONS.map(notation)),
      this.section("With index tables", this.missing ?? "Orders that no shape and strides have: the name of a format stands for a list.", tabled.map(kernel)),
      ...makers(refused(formats) ? [] : formats.formats).map(([maker, purposes]) => this.maker(maker, purposes)),
    ];
    const ways = sections.map((section) => button(section.dataset["title"]!, `Go to ${section.dataset["title"]!}`, () => section.scrollIntoView(), "chip"));
    fill(this.ways, ...ways);
    fill(this.element, intro("gallery"), h("div", { class: "search" }, this.filter), this.ways, this.nothing, ...sections);
  }

  private section(title: string, about: string, cards: readonly Card[]): HTMLElement {
    return h("section", { "data-title": title }, h("h2", {}, title), h("p", {}, about), this.cards(cards));
  }

  /** The formats of a maker, by what they are for. */
  private maker(maker: string, purposes: ReadonlyMap<string, readonly Format[]>): HTMLElement {
    const groups = [...purposes].flatMap(([purpose, formats]) => [purpose && h("h3", {}, purpose), this.cards(formats.map(format))]);
    const count = [...purposes.values()].reduce((all, formats) => all + formats.length, 0);
    return h("section", { "data-title": maker }, h("h2", {}, maker), h("p", {}, `${count} named format${count === 1 ? "" : "s"}.`), ...groups);
  }

  private cards(cards: readonly Card[]): HTMLElement {
    return h("ul", { class: "cards" }, ...cards.map((card) => this.card(card)));
  }

  private card({ hash, title, text, small, preview }: Card): HTMLElement {
    const canvas = h("canvas", { width: WIDTH, height: HEIGHT, "aria-hidden": "true" });
    this.pictures.set(canvas, preview);
    this.seen.observe(canvas);
    return h("li", {}, h("a", { class: "card", href: hash }, canvas, h("b", {}, title), h("code", {}, text), small && h("small", {}, small)));
  }

  private search(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
    for (const section of this.element.querySelectorAll("section")) {
      for (const item of section.querySelectorAll("li")) item.hidden = !has(`${section.dataset["title"]} ${item.textContent}`);
      for (const list of section.querySelectorAll("ul")) {
        list.hidden = !list.querySelector("li:not([hidden])");
        const title = list.previousElementSibling as HTMLElement;
        if (title.tagName === "H3") title.hidden = list.hidden;
      }
      section.hidden = words.length > 0 && !section.querySelector("li:not([hidden])");
    }
    this.ways.hidden = words.length > 0;
    this.nothing.hidden = !!this.element.querySelector("section:not([hidden])");
  }
}

function conversion([title, a, b, dims, dtype = ""]: (typeof CONVERSIONS)[number]): Card {
  const subjects = [a, b].map((spec) => ({ spec, dims, dtype }));
  return { hash: toHash({ part: "convert", fields: { a, b, dims, dtype } }), title, text: `${a} → ${b}`, small: array(dims, dtype), preview: { subjects } };
}

function step([title, op, a, b]: (typeof STEPS)[number]): Card {
  const text = op === "expression" ? a : `${op}(${b ? `${a}, ${b}` : a})`;
  const specs = op === "expression" ? [text] : [a, text];
  const subjects = specs.map((spec) => ({ spec, dims: "", dtype: "" }));
  return { hash: toHash({ part: "algebra", fields: { op, a, b } }), title, text, small: "", preview: { subjects, colour: "order" } };
}

function bank([title, spec, dtype, vector]: (typeof BANKS)[number]): Card {
  const hash = toHash({ part: "layout", fields: { spec, dtype, colour: "bank", vector: vector === "1" ? "" : vector } });
  const small = `${dtype}, ${vector} element${vector === "1" ? "" : "s"} a thread`;
  return { hash, title, text: spec, small, preview: { subjects: [{ spec, dims: "", dtype }], colour: "bank" } };
}

function notation([title, spec, dims = "", dtype = ""]: (typeof NOTATIONS)[number]): Card {
  return { hash: toHash({ part: "layout", fields: { spec, dims, dtype } }), title, text: spec, small: array(dims, dtype), preview: { subjects: [{ spec, dims, dtype }] } };
}

function format({ name, aliases, pattern, source, example: spec }: Format): Card {
  const more = aliases.length > ALIASES ? ` and ${aliases.length - ALIASES} more` : "";
  const names = aliases.length > 0 ? `Also ${aliases.slice(0, ALIASES).join(", ")}${more}. ` : "";
  return { hash: toHash({ part: "layout", fields: { spec } }), title: name, text: pattern, small: `${names}${source}`, preview: { subjects: [{ spec, dims: "", dtype: "" }] } };
}

function kernel({ name, aliases, dims, source, example: spec }: TabledFormat): Card {
  const names = aliases.length > 0 ? `Also ${aliases.join(", ")}. ` : "";
  return { hash: toHash({ part: "layout", fields: { spec } }), title: name, text: `[${dims.join(", ")}]`, small: `${names}${source}`, preview: { subjects: [{ spec, dims: "", dtype: "" }] } };
}

function array(dims: string, dtype: string): string {
  return [dims && `[${dims}]`, dtype].filter(Boolean).join(" ");
}

/** The formats by maker, and of each by purpose; where the library says neither, by the first words of the source. */
function makers(formats: readonly Format[]): [string, Map<string, Format[]>][] {
  const groups = new Map<string, Map<string, Format[]>>();
  for (const format of formats) {
    const maker = format.maker ?? format.source.split(/[,;]/)[0]!;
    const purposes = groups.get(maker) ?? new Map<string, Format[]>();
    groups.set(maker, purposes);
    const purpose = format.purpose ?? "";
    purposes.set(purpose, [...(purposes.get(purpose) ?? []), format]);
  }
  return [...groups];
}
