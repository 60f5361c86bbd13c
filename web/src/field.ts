// A line of text in which an error is shown where it is: carets under the fault as one types, the sentence
// below, and the likely spelling to choose.

import { characters, type Refusal } from "./engine.js";
import { button, fill, h, id } from "./dom.js";

interface Options {
  label: string;
  hint?: string;
  kind?: string;
  change: () => void;
}

/** A labelled field. */
export class Field {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly carets = h("div", { class: "carets", "aria-hidden": "true" });
  private readonly note: HTMLElement;

  constructor(private readonly options: Options) {
    const name = id("field");
    const note = `${name}-note`;
    this.input = h("input", {
      id: name, type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off", autocorrect: "off",
      placeholder: options.hint ?? "", "aria-describedby": note,
    });
    this.note = h("p", { class: "note", id: note, "aria-live": "polite" });
    this.element = h(
      "div",
      { class: `field ${options.kind ?? ""}` },
      h("label", { for: name }, options.label),
      h("div", { class: "line" }, this.input, this.carets),
      this.note,
    );
    this.input.addEventListener("input", () => options.change());
    this.input.addEventListener("scroll", () => this.scrolled());
  }

  get value(): string {
    return this.input.value;
  }

  /** Sets the text; the cursor of one who types is left alone. */
  set value(text: string) {
    if (this.input.value !== text) this.input.value = text;
  }

  /** Shows an error, or that there is none. */
  error(refusal: Refusal | null): void {
    this.element.classList.toggle("wrong", !!refusal);
    this.carets.textContent = "";
    if (!refusal) {
      this.input.removeAttribute("aria-invalid");
      fill(this.note);
      return;
    }
    this.input.setAttribute("aria-invalid", "true");
    const span = refusal.span && characters(this.value, refusal.span);
    if (span) this.underline(span);
    fill(this.note, refusal.message, ...this.spellings(refusal.message, span));
  }

  /** Says something that is not an error. */
  say(text: string): void {
    if (!this.element.classList.contains("wrong")) fill(this.note, text);
  }

  private underline([from, to]: [number, number]): void {
    this.carets.textContent = " ".repeat(from) + "^".repeat(Math.max(to - from, 1));
    this.scrolled();
  }

  private scrolled(): void {
    this.carets.style.transform = `translateX(${-this.input.scrollLeft}px)`;
  }

  /** "did you mean `x`?", "Also near: `y`" as buttons that write x where the fault is. */
  private spellings(message: string, span: [number, number] | null): Node[] {
    if (!span) return [];
    const [from, to] = span;
    const lists = message.matchAll(/(?:did you mean|also near:?) ((?:`[^`]+`(?:, | or | and )*)+)/gi);
    const words = [...lists].flatMap(([, list]) => [...list!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
    return [...new Set(words)].slice(0, 4).map((word) =>
      button(word, `Write ${word}`, () => {
        this.value = this.value.slice(0, from) + word + this.value.slice(to);
        this.input.focus();
        this.options.change();
      }, "spelling"),
    );
  }
}
