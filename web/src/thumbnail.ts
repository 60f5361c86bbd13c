// Small pictures of layouts, for cards.

import { type Colouring, isDark, paletteOf } from "./colours.js";
import { ask, type Facts, openView, refused, type View } from "./engine.js";
import { shader } from "./layout_source.js";
import { tiled } from "./page.js";

/** A layout as a card has it. */
export interface Subject {
  spec: string;
  dims: string;
  dtype: string;
}

/** What a card shows: a layout, or two with an arrow between them, in the colours of the second's tiles. */
export interface Preview {
  subjects: readonly Subject[];
  colour?: Colouring;
}

/** The most rows and columns: the corner of what is larger. */
const [ROWS, COLUMNS] = [48, 96];
const ARROW = 40;

interface Opened {
  facts: Facts;
  view: View;
}

/** Draws on a whole canvas; nothing where a layout is none. */
export function thumbnail(canvas: HTMLCanvasElement, { subjects, colour }: Preview): void {
  const context = canvas.getContext("2d")!;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const opened = subjects.map(open);
  const last = opened.at(-1);
  if (last && opened.every((one) => one)) {
    const width = (canvas.width - ARROW * (opened.length - 1)) / opened.length;
    opened.forEach((one, i) => {
      const left = i * (width + ARROW);
      if (i > 0) arrow(context, left - ARROW / 2, canvas.height / 2);
      draw(context, one!, !colour && tiled(last.facts) ? last : one!, colour, [left, width]);
    });
  }
  for (const one of opened) one?.view.free();
}

function open({ spec, dims, dtype }: Subject): Opened | null {
  const facts = ask<Facts>({ ask: "view", spec, dims, dtype });
  const view = refused(facts) ? null : openView(spec, dims, dtype);
  return view ? { facts: facts as Facts, view } : null;
}

/** A layout in a part of the canvas, in the colours of `key`. */
function draw(context: CanvasRenderingContext2D, { facts, view }: Opened, key: Opened, colour: Colouring | undefined, [x0, room]: [number, number]): void {
  const { padded, dims, cuts } = facts;
  const rank = dims.length;
  const rows = Math.min(rank < 2 ? 1 : padded[rank - 2]!, ROWS);
  const columns = Math.min(rank < 1 ? 1 : padded[rank - 1]!, COLUMNS);
  const size = Math.min(room / columns, context.canvas.height / rows, 34);
  const [left, top] = [x0 + (room - columns * size) / 2, (context.canvas.height - rows * size) / 2];
  const read = (of: View) => of.grid(new Float64Array(Math.max(rank - 2, 0)), 0, 0, rows, columns);
  const [own, offsets] = [read(view), read(key.view)];
  const seen = Array.from(offsets).filter((offset) => !Number.isNaN(offset));
  const by = colour ?? (tiled(key.facts) ? "tile" : "order");
  const shade = shader({ by, facts: { ...key.facts, low: Math.min(...seen), capacity: Math.max(...seen) + 1 }, view: key.view });
  const palette = paletteOf(by, isDark());
  const style = getComputedStyle(context.canvas);
  const gap = size > 8 ? 1 : 0;
  for (let i = 0; i < rows * columns; i++) {
    const [r, c] = [Math.floor(i / columns), i % columns];
    const padding = (rank > 1 && r >= dims[rank - 2]!) || (rank > 0 && c >= dims[rank - 1]!);
    if (Number.isNaN(own[i]!)) continue;
    const fill = palette.fills[shade(0, r, c, offsets[i]!)]!;
    context.fillStyle = padding ? style.getPropertyValue("--padding") : `rgb(${fill & 255} ${(fill >> 8) & 255} ${(fill >> 16) & 255})`;
    context.fillRect(left + c * size, top + r * size, size - gap, size - gap);
  }
  context.strokeStyle = style.getPropertyValue("--tile-line");
  context.lineWidth = 2;
  context.beginPath();
  const [down, across] = [cuts[rank - 2]?.at(-1) ?? 0, cuts[rank - 1]?.at(-1) ?? 0];
  for (let r = down; down > 0 && r < rows; r += down) line(context, left, top + r * size, left + columns * size, top + r * size);
  for (let c = across; across > 0 && c < columns; c += across) line(context, left + c * size, top, left + c * size, top + rows * size);
  if (Math.max(down, across) * size > 8) context.stroke();
}

function arrow(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.strokeStyle = getComputedStyle(context.canvas).getPropertyValue("--faint");
  context.lineWidth = 2.5;
  context.beginPath();
  line(context, x - 12, y, x + 12, y);
  line(context, x + 4, y - 8, x + 12, y);
  line(context, x + 4, y + 8, x + 12, y);
  context.stroke();
}

function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
}
