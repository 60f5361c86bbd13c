// Words that need a sentence, and the sentence: shown on hover and on focus.

import { h, id } from "./dom.js";

const WORDS: Readonly<Record<string, string>> = {
  padding: "Places of the storage that hold no element. They are there because tiles are stored whole, or because rows begin at round addresses.",
  tile: "A small block of rows and columns that lies in memory in one piece. The lines are the borders of tiles; tiles may be cut into smaller ones.",
  swizzle: "A step at the end that exchanges places within short runs of memory, by an exclusive or of bits of the offset. It keeps reads of a column out of one bank.",
  bank: "Shared memory of a GPU has 32 banks, each 4 bytes wide. Threads that want different words of one bank at a time wait for one another.",
  offset: "The place of an element in memory, counted in elements from the first on.",
  stride: "How far apart in memory two neighbours along one dim are, in elements.",
  size: "The number of elements.",
  cosize: "The largest offset of an element, plus one.",
  capacity: "How many elements the storage has room for, padding included.",
  "contiguous run": "How many elements in a row, from the first on, lie side by side in memory.",
  injective: "Whether no two elements lie in one place.",
  exhaustive: "Whether there is an element in every place.",
  "true rank": "The fewest loops that visit all elements.",
  order: "Which dim is the slowest in memory (major), and which the fastest (minor).",
};

/** A word with its sentence, where it has one. */
export function term(word: string, text = word): HTMLElement {
  const says = WORDS[word];
  if (!says) return h("span", {}, text);
  const tip = id("tip");
  const button = h("button", { type: "button", class: "explained", "aria-describedby": tip }, text);
  button.addEventListener("keydown", (event) => event.key === "Escape" && button.blur());
  return h("span", { class: "term" }, button, h("span", { class: "tip", id: tip, role: "tooltip" }, says));
}
