// The library, compiled to WebAssembly: questions and answers, and open views of layouts.
//
// The page starts with a module that answers most questions. For the others it loads the late module, which is the whole library
// and answers everything from then on.

import init, { ask as askFirst, View as First } from "../generated/tilewright_web.js";
import type * as Late from "./late.js";

/** An open layout. */
export type View = First;
type Library = Pick<typeof Late, "ask" | "View">;

declare const LATE: string;

/** Sent to the window when the late module is loaded or has failed to load: refused questions have another answer now. */
export const CHANGED = "library";

const WAITING = "This needs the rest of the library, which is being loaded …";
let library: Library = { ask: askFirst, View: First };
let loading: Promise<void> | null = null;
let attempts = 0;
/** Why questions that need the late module have no answer yet. */
let reason = WAITING;

/** Loads the late module unless it is loaded or being loaded. After a failure the next call loads it once the network is back. */
export function loadLate(): void {
  loading ??= importLate().catch(failed).then(() => void dispatchEvent(new Event(CHANGED)));
}

async function importLate(): Promise<void> {
  // A browser keeps the failure of an import under its URL, so each further attempt has a URL of its own.
  const query = attempts++ === 0 ? "" : `?${attempts}`;
  const late = (await import(new URL(`${LATE}.js${query}`, document.baseURI).href)) as typeof Late;
  await late.load();
  library = late;
}

function failed(error: unknown): void {
  reason = `This needs a part of the page that did not load (${String(error)}). Connect to the network and reload the page.`;
  addEventListener("online", () => [loading, reason] = [null, WAITING], { once: true });
}

/** Returns why the late module is not loaded; null if it is. */
export function lateMissing(): string | null {
  return library.ask === askFirst ? reason : null;
}

/** Opens a layout; undefined if it is refused. */
export function openView(spec: string, dims: string, dtype: string): View | undefined {
  return library.View.open(spec, dims, dtype);
}

/** Why a question has no answer; `span` counts bytes of the field's text. */
export interface Refusal {
  kind: string;
  message: string;
  field: string;
  span: [number, number] | null;
}

/** What is known of a layout. */
export interface Facts {
  layout: string;
  dtype: string | null;
  element_bits: number | null;
  dims: number[];
  padded: number[];
  cuts: number[][];
  /** The digits of each dim, fastest first; none where steps mix the dims. */
  axes: { digits: [extent: number, stride: number][] }[];
  modes: [extent: number, stride: number][];
  low: number;
  size: number;
  cosize: number;
  capacity: number;
  bytes: number | null;
  padding: number;
  contiguous_run: number;
  injective: boolean | null;
  /** Whether places are exchanged at the end. */
  swizzled: boolean;
  lines: [title: string, text: string][];
  notations: Record<string, { text?: string; refused?: string }>;
  /** The layout that index tables store, which the notations and the modes are of. */
  stored?: string;
  stored_dims?: number[];
}

/** A value of the algebra; a layout also as a picture needs it. */
export interface Value {
  kind: string;
  text: string;
  view: Facts | null;
}

/** For each cell of the result those it comes from, and the number of its tile (-1: none). */
export interface Links {
  a: number[];
  b: number[];
  tiles: number[];
}

/** Operands, result, and which of their cells belong together. */
export interface Step {
  expression: string;
  a: Value | null;
  b: Value | null;
  result: Value;
  links: Links | null;
  /** Whether the expression has a picture of its own. */
  drawn: boolean;
}

/** The banks of shared memory under the reads of a warp, as a picture and in sentences. */
export interface Banks {
  svg: string;
  notes: string[];
  bits: number;
  assumed: boolean;
}

/** A plan in words. */
export interface Plan {
  text: string;
  kernel: string;
  bits: number;
  assumed: boolean;
}

/** A picture of what is not a layout of an array in memory: who holds what, or where cells are sent. */
export interface Spread {
  title: string;
  map: string;
  svg: string;
  lines: [title: string, text: string][];
}

/** A named format. */
export interface Format {
  name: string;
  aliases: string[];
  pattern: string;
  constants: { name: string; by_bits: Record<string, number> }[];
  source: string;
  example: string;
  maker?: string;
  purpose?: string;
}

/** A named format that stands for an index table. */
export type TabledFormat = Pick<Format, "name" | "aliases" | "source" | "example"> & { dims: string[] };

/** Both sides of a conversion. */
export interface Conversion {
  a: Facts;
  b: Facts;
  same: string;
}

/** Loads the library; nothing else here may be called before. */
export async function load(wasm: string | URL | Promise<Response>): Promise<void> {
  await init({ module_or_path: wasm });
}

/** Asks; the answer, or why there is none. */
export function ask<T>(question: Record<string, unknown>): T | { error: Refusal } {
  const answer = JSON.parse(library.ask(JSON.stringify(question))) as T | { error: Refusal };
  if (refused(answer) && answer.error.kind === "not-built") {
    loadLate();
    answer.error.message = reason;
  }
  return answer;
}

/** Whether an answer is a refusal. */
export function refused(answer: unknown): answer is { error: Refusal } {
  return typeof answer === "object" && answer !== null && "error" in answer;
}

// What general layouts are tried with where dims are not given, by rank.
const DIMS = ["24,40", "40", "2,20,5,6", "2,12,20", "2,20,3,4,5", "2,3,4,5,3,4", "()"];

/** Dims and element type with which a general layout can be shown, where none were given. */
export interface Assumed {
  dims: string;
  dtype: string;
}

/**
 * Asks a question about layouts. What a general layout lacks and the person has not given is assumed, and
 * the assumption handed back.
 */
export function askAssuming<T>(question: Record<string, unknown>): { answer: T | { error: Refusal }; assumed: Assumed | null } {
  let { dims, dtype } = question as { dims: string; dtype: string };
  let answer = ask<T>(question);
  const first = answer;
  if (refused(answer) && answer.error.kind === "needs-dims") {
    for (const tried of DIMS) {
      answer = ask<T>({ ...question, dims: tried, dtype });
      dims = tried;
      if (!refused(answer) || answer.error.kind === "needs-dtype") break;
    }
  }
  if (refused(answer) && answer.error.kind === "needs-dtype" && !dtype) {
    dtype = "f16";
    answer = ask<T>({ ...question, dims, dtype });
  }
  if (refused(answer)) return { answer: first, assumed: null };
  const given = dims === question["dims"] && dtype === question["dtype"];
  return { answer, assumed: given ? null : { dims, dtype } };
}

/** The place of a byte span in a string. */
export function characters(text: string, span: [number, number]): [number, number] {
  const bytes = new TextEncoder().encode(text);
  const count = (to: number) => new TextDecoder().decode(bytes.subarray(0, to)).length;
  return [count(span[0]), count(span[1])];
}
