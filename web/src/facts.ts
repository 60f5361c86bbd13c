// A layout in words: sentences, and its text in every notation.

import { copier, fill, h } from "./dom.js";
import type { Facts } from "./engine.js";
import { term } from "./help.js";
import { toHash } from "./state.js";

/** Sentences, each with its title; titles that are words of the field are explained. */
export function words(lines: Facts["lines"]): HTMLElement[] {
  return lines.map(([title, text]) => h("div", {}, h("dt", {}, term(title)), h("dd", {}, text)));
}

/** The column beside a picture. */
export class FactsPanel {
  private readonly words = h("dl", { class: "words" });
  private readonly said = h("ul", { class: "notations" });
  private readonly unsaid = h("ul", { class: "notations refused" });
  private readonly count = h("summary");
  private readonly others = h("h2");
  readonly element = h(
    "aside",
    { class: "facts", "aria-label": "The layout in words" },
    h("h2", {}, "In words"),
    this.words,
    this.others,
    this.said,
    h("details", {}, this.count, this.unsaid),
  );

  show(facts: Facts): void {
    const { stored } = facts;
    fill(this.words, ...words(stored ? [...facts.lines, ["stored layout", stored]] : facts.lines));
    fill(this.others, stored ? "What the tables store, in other notations" : "In other notations");
    const entries = Object.entries(facts.notations);
    const said = entries.filter(([, { text }]) => text !== undefined);
    const unsaid = entries.filter(([, { refused }]) => refused !== undefined);
    fill(this.said, ...said.map(([name, { text }]) => notation(name, text!, facts)));
    fill(this.unsaid, ...unsaid.map(([name, { refused }]) => h("li", {}, h("b", {}, name), h("span", {}, refused!))));
    this.count.textContent = `${unsaid.length} cannot express it`;
  }
}

function notation(name: string, text: string, facts: Facts): HTMLElement {
  const hash = toHash({ part: "layout", fields: { spec: `${name}:${text}`, dims: (facts.stored_dims ?? facts.dims).join(",") || "()", dtype: facts.dtype ?? "" } });
  return h(
    "li",
    {},
    h("b", {}, name),
    h("a", { href: hash, title: "Show this text" }, h("code", {}, text)),
    copier(() => text, `Copy the ${name} text`),
  );
}
