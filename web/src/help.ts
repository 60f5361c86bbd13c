// Words that need a sentence, and the sentence: shown on hover and on focus.

import { h, id } from "./dom.js";

const WORDS: Readonly<Record<string, string>> = {
  padding: "Parts of the storage that hold no element. They exist because tiles are stored whole, or because rows begin at round addresses.",
  tile: "A small block of rows and columns that is contiguous in memory. The lines are the borders of tiles; tiles may be cut into smaller ones.",
  swizzle: "A last step that permutes short runs of memory: an exclusive or of bits of the offset. It spreads the reads of a column over the banks.",
  bank: "Shared memory of a GPU has 32 banks, each 4 bytes wide. Threads that want different words of one bank at a time wait for one another.",
  offset: "The position of an element in memory, in elements from the first.",
  stride: "The distance in memory of two neighbours along one dim, in elements.",
  size: "The number of elements.",
  cosize: "The largest offset of an element, plus one.",
  capacity: "The number of elements of the storage, with padding.",
  "contiguous run": "The number of elements from the first on that are contiguous in memory.",
  injective: "True if no two elements have the same offset.",
  exhaustive: "True if every offset holds an element.",
  "true rank": "The fewest loops that visit all elements.",
  "index tables": "Lists that say where rows or columns are stored: place i holds index number i of the list, and a hole holds none.",
  "stored layout": "The layout of what the index tables store, in shape and strides.",
  order: "The dims from the slowest in memory (major) to the fastest (minor).",
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
