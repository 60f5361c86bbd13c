// What the parts of the page have in common.

import type { Colouring } from "./colours.js";
import { bankColours, gradient, isDark } from "./colours.js";
import { h } from "./dom.js";
import { type Assumed, ask, type Facts, type Refusal, refused } from "./engine.js";
import type { Field } from "./field.js";
import { STARTS } from "./examples.js";
import { term } from "./help.js";
import { type Fields, type Part, toHash } from "./state.js";

/** A part of the page. */
export interface PagePart {
  readonly element: HTMLElement;
  /** Shows what an address says. */
  restore(fields: Fields): void;
  /** What the address has to say. */
  fields(): Fields;
  /** Draws anew, in other colours. */
  repaint(): void;
  /** What the window is called. */
  name(): string;
}

/** A part that reads what is typed and draws it. */
export abstract class Reader implements PagePart {
  abstract readonly element: HTMLElement;

  constructor(private readonly told: () => void) {}

  abstract restore(fields: Fields): void;
  abstract fields(): Fields;
  abstract name(): string;
  /** Reads what is typed, and draws it. */
  protected abstract update(): void;
  /** Draws what was read. */
  protected abstract draw(): void;

  repaint(): void {
    this.draw();
  }

  /** Something else was typed. */
  protected changed(): void {
    this.update();
    this.told();
  }

  /** The same in other colours. */
  protected recoloured(): void {
    this.draw();
    this.told();
  }

  /** Something moved that only the address has to say. */
  protected moved(): void {
    this.told();
  }
}

/** Work that is done once typing pauses, so that no key waits for it. */
export class Later {
  private timer = 0;

  do(work: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(work, 60) as unknown as number;
  }
}

/** An SVG file as a picture: the browser runs nothing in it and loads nothing for it. */
export class Drawn {
  private readonly image = h("img", { class: "drawn", alt: "" });
  /** Scrolls where it is too small to be read at the width there is. */
  readonly element = h("div", { class: "scroller", hidden: true }, this.image);

  show(svg: string | null, says: string): void {
    URL.revokeObjectURL(this.image.src);
    this.element.hidden = svg === null;
    this.image.alt = says;
    if (svg !== null) this.image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  }
}

export const COLOURINGS: readonly (readonly [Colouring, string])[] = [
  ["tile", "colour: tile"],
  ["order", "colour: memory order"],
  ["bank", "colour: bank (32 × 4 bytes)"],
  ["none", "no colour"],
];

/** What a part is, in a sentence, and examples that fill its fields. */
export function intro(part: Part): HTMLElement {
  const { says, chips } = STARTS[part];
  const links = chips.map(([title, fields]) => h("a", { class: "chip", href: toHash({ part, fields }) }, title));
  return h("div", { class: "intro" }, h("p", {}, says), links.length > 0 && h("nav", { class: "chips", "aria-label": "Examples" }, ...links));
}

/** Whether a layout has tiles. */
export function tiled(facts: Facts): boolean {
  return facts.cuts.some((sizes) => sizes.length > 0);
}

/** Puts a refusal to the field it is about, and none to the others; the first one gets what fits nowhere. */
export function point(fields: Readonly<Record<string, Field>>, refusal: Refusal | null): void {
  const at = refusal && refusal.field in fields ? refusal.field : Object.keys(fields)[0];
  for (const [name, field] of Object.entries(fields)) field.error(refusal && name === at ? refusal : null);
}

/** Says next to dims and dtype what was assumed for them. */
export function assumes(dims: Field, dtype: Field, assumed: Assumed | null): void {
  dims.input.placeholder = assumed && dims.value === "" ? assumed.dims : "as written";
  dtype.input.placeholder = assumed?.dtype && dtype.value === "" ? assumed.dtype : "as written";
  const both = assumed && dims.value === "" && assumed.dims;
  dims.say(both ? "assumed; write your own" : "");
  dtype.say(assumed && dtype.value === "" && assumed.dtype ? "assumed" : "");
}

/** What the colours mean. */
export function legend(colouring: Colouring, facts: Facts): HTMLElement {
  const swatch = (style: string, ...text: (Node | string)[]) => h("span", { class: "swatch" }, h("i", { style, "aria-hidden": "true" }), ...text);
  const parts: HTMLElement[] = [];
  if (colouring === "order") {
    parts.push(h("span", { class: "swatch" }, "first", h("i", { class: "ramp", style: `background: ${gradient(isDark())}`, "aria-hidden": "true" }), "last in memory"));
  }
  if (colouring === "bank") {
    const assumed = facts.element_bits ? "" : ", elements of 4 bytes";
    const colours = bankColours(isDark()).map((colour, bank) => h("i", { style: `background: ${colour}` }, bank % 4 === 0 ? `${bank}` : ""));
    parts.push(h("span", { class: "swatch" }, term("bank"), h("span", { class: "banks", "aria-hidden": "true" }, ...colours), `0 to 31${assumed}`));
  }
  if (tiled(facts)) parts.push(swatch("border: 2px solid var(--tile-line)", h("span", {}, term("tile", "tiles"), colouring === "tile" ? ", each in a colour" : "")));
  if (facts.padding > 0 || facts.padded.some((size, dim) => size > facts.dims[dim]!)) parts.push(swatch("background: var(--hatch)", term("padding")));
  if (facts.swizzled) parts.push(h("span", {}, "with a ", term("swizzle")));
  return h("p", { class: "legend" }, ...parts);
}

/** What the explanation of a layout says under a title. */
export function line(facts: Facts, title: string): string {
  return facts.lines.find(([name]) => name === title)?.[1] ?? "";
}

/** A picture as an SVG file; null where there is none. */
export function picture(question: Record<string, unknown>): string | null {
  const answer = ask<string | null>({ ask: "picture", ...question });
  return refused(answer) ? null : answer;
}
