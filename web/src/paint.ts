// One panel of a grid on a canvas: cells as an image of one pixel each, then lines, labels and marks.

import type { Palette } from "./colours.js";
import type { Look } from "./look.js";
import type { Cell, Source, Window } from "./source.js";

/** What is drawn, and on what. */
export interface Scene {
  context: CanvasRenderingContext2D;
  source: Source;
  palette: Palette;
  style: CSSStyleDeclaration;
  look: Look;
  view: readonly [number, number];
  hover: Cell | null;
  cursor: Cell | null;
  marks: readonly Cell[];
}

/** The part of a panel that can be seen. */
interface Part {
  panel: number;
  /** Where the first cell of the panel is. */
  x: number;
  y: number;
  row: number;
  column: number;
  rows: number;
  columns: number;
  /** One cell is drawn for this number of cells along each side: they are smaller than a pixel. */
  step: number;
  window: Window;
}

const MONO = "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
/** Below this, labels cannot be read and are left out. */
export const SMALLEST = 6.5;
/** The most cells of a panel that are drawn one by one. */
const MOST_CELLS = 60_000;

/** Draws a panel whose corner is at (x, y); counts cells and labels. */
export function drawPanel(scene: Scene, panel: number, x: number, y: number): { cells: number; labels: number } {
  const { look, source, view } = scene;
  const [left, top] = [x + look.left, y + look.top];
  const begin = (from: number, start: number, size: number) => Math.max(0, Math.floor((from - start) / size));
  const row = begin(look.top, top, look.height);
  const column = begin(look.left, left, look.width);
  const rows = Math.min(source.rows, begin(view[1], top, look.height) + 1) - row;
  const columns = Math.min(source.columns, begin(view[0], left, look.width) + 1) - column;
  if (rows <= 0 || columns <= 0) return { cells: 0, labels: 0 };
  const part = opened(source, { panel, x: left, y: top, row, column, rows, columns }, stepOf(look, rows * columns));
  const [x0, y0] = [Math.max(left, Math.min(look.left, view[0])) - 2, Math.max(top, look.top) - 2];
  scene.context.save();
  scene.context.beginPath();
  scene.context.rect(x0, y0, left + source.columns * look.width + 2 - x0, top + source.rows * look.height + 2 - y0);
  scene.context.clip();
  fills(scene, part);
  hatch(scene, part);
  lines(scene, part);
  borders(scene, part);
  const labels = texts(scene, part);
  marks(scene, part);
  scene.context.restore();
  margins(scene, part, x, y);
  return { cells: part.window.states.length, labels };
}

/** How many cells apart those are that are drawn: a power of two, since tiles mostly are. */
function stepOf(look: Look, cells: number): number {
  let step = 1;
  while (cells > MOST_CELLS * step * step && step * look.height < 4) step *= 2;
  return step;
}

/** The part with its cells; those that are drawn stand at multiples of the step. */
function opened(source: Source, { panel, x, y, row, column, rows, columns }: Omit<Part, "step" | "window">, step: number): Part {
  const [r, c] = [row - (row % step), column - (column % step)];
  const [height, width] = [Math.ceil((row + rows - r) / step), Math.ceil((column + columns - c) / step)];
  return { panel, x, y, row: r, column: c, rows: height * step, columns: width * step, step, window: source.window(panel, r, c, height, width, step) };
}

const scratch = document.createElement("canvas");

/** All cells at once: an image of a pixel for each, stretched. */
function fills({ context, palette, look }: Scene, part: Part): void {
  const { step, window } = part;
  const [rows, columns] = [part.rows / step, part.columns / step];
  if (scratch.width < columns) scratch.width = columns;
  if (scratch.height < rows) scratch.height = rows;
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = window.states[i] === 1 ? palette.fills[window.shades[i]!]! : 0;
  scratch.getContext("2d")!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  const [x, y] = [part.x + part.column * look.width, part.y + part.row * look.height];
  context.drawImage(scratch, 0, 0, columns, rows, x, y, part.columns * look.width, part.rows * look.height);
}

const patterns = new Map<string, HTMLCanvasElement>();

/** Slanted lines in a colour. */
function slanted(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  let tile = patterns.get(colour);
  if (!tile) {
    tile = document.createElement("canvas");
    tile.width = tile.height = 7;
    const pen = tile.getContext("2d")!;
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const at of [-7, 0, 7]) {
      pen.moveTo(at - 1, 8);
      pen.lineTo(at + 8, -1);
    }
    pen.stroke();
    patterns.set(colour, tile);
  }
  return context.createPattern(tile, "repeat") ?? colour;
}

/** Padding, a run of cells at a time. */
function hatch({ context, look, style }: Scene, part: Part): void {
  const { step, window } = part;
  const [rows, columns] = [part.rows / step, part.columns / step];
  const [width, height] = [step * look.width, step * look.height];
  const paper = style.getPropertyValue("--padding-paper");
  const lines = look.height >= 5 ? slanted(context, style.getPropertyValue("--padding")) : style.getPropertyValue("--padding");
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      if (window.states[i * columns + j] !== 2) continue;
      const from = j;
      while (j < columns && window.states[i * columns + j] === 2) j++;
      const box = [part.x + part.column * look.width + from * width, part.y + part.row * look.height + i * height, (j - from) * width, height] as const;
      context.fillStyle = paper;
      context.fillRect(...box);
      context.fillStyle = lines;
      context.fillRect(...box);
    }
  }
}

/** Lines between cells, and heavier ones round tiles. */
function lines(scene: Scene, part: Part): void {
  const { look, style, source } = scene;
  if (look.height >= 7) rule(scene, part, 1, style.getPropertyValue("--cell-line"), 1, 1);
  const tile = style.getPropertyValue("--tile-line");
  const [down, across] = source.cuts;
  for (let level = 0; level < Math.max(down.length, across.length); level++) {
    const [dr, dc] = [down[level] ?? 0, across[level] ?? 0];
    const room = Math.max(dr * look.height, dc * look.width);
    if (room < 5) continue;
    scene.context.globalAlpha = room < 12 ? 0.3 : room < 48 ? 0.55 : 1;
    rule(scene, part, Math.min(1.4 + level * 1.1, Math.max(room / 24, 1)), tile, dr, dc);
  }
  scene.context.globalAlpha = 1;
  rule(scene, part, 1.4 + Math.max(down.length, across.length) * 0.8, tile, source.rows, source.columns);
}

/** Lines before every `down` rows and every `across` columns; 0 for none. */
function rule({ context, look, source }: Scene, part: Part, width: number, colour: string, down: number, across: number): void {
  const [row, column] = [Math.min(part.row + part.rows, source.rows), Math.min(part.column + part.columns, source.columns)];
  const [x0, x1] = [part.x + part.column * look.width, part.x + column * look.width];
  const [y0, y1] = [part.y + part.row * look.height, part.y + row * look.height];
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  for (let i = first(part.row, down); down > 0 && i <= row; i += down) {
    const y = crisp(part.y + i * look.height, width);
    context.moveTo(x0, y);
    context.lineTo(x1, y);
  }
  for (let j = first(part.column, across); across > 0 && j <= column; j += across) {
    const x = crisp(part.x + j * look.width, width);
    context.moveTo(x, y0);
    context.lineTo(x, y1);
  }
  context.stroke();
}

/** The first multiple from a number on. */
function first(from: number, of: number): number {
  return of > 0 ? Math.ceil(from / of) * of : from;
}

/** Lines between cells of different groups, wherever they are. */
function borders({ context, look, style }: Scene, part: Part): void {
  const { groups } = part.window;
  if (!groups || part.step > 1) return;
  const { rows, columns } = part;
  context.strokeStyle = style.getPropertyValue("--tile-line");
  context.lineWidth = 2.4;
  context.beginPath();
  const line = (r: number, c: number, down: number, across: number) => {
    const [x, y] = [part.x + (part.column + c) * look.width, part.y + (part.row + r) * look.height];
    context.moveTo(x, y);
    context.lineTo(x + across * look.width, y + down * look.height);
  };
  for (let i = 0; i < rows * columns; i++) {
    const [r, c] = [Math.floor(i / columns), i % columns];
    if (c + 1 < columns && groups[i] !== groups[i + 1]) line(r, c + 1, 1, 0);
    if (r + 1 < rows && groups[i] !== groups[i + columns]) line(r + 1, c, 0, 1);
  }
  context.stroke();
}

/** A line of odd width is sharp between pixels. */
function crisp(at: number, width: number): number {
  return Math.round(width) % 2 === 1 ? Math.floor(at) + 0.5 : Math.round(at);
}

function texts({ context, look, palette, style }: Scene, part: Part): number {
  if (look.font < SMALLEST || part.step > 1) return 0;
  const { rows, columns, window } = part;
  const [light, dark, faint] = ["--on-dark", "--on-light", "--padding-text"].map((name) => style.getPropertyValue(name)) as [string, string, string];
  context.font = `${look.font}px ${MONO}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  let count = 0;
  for (let i = 0; i < rows * columns; i++) {
    const state = window.states[i];
    if (state === 0) continue;
    const text = window.label(i);
    if (!text) continue;
    context.fillStyle = state === 2 ? faint : palette.dark[window.shades[i]!] ? light : dark;
    const [r, c] = [Math.floor(i / columns), i % columns];
    context.fillText(text, part.x + (part.column + c + 0.5) * look.width, part.y + (part.row + r + 0.54) * look.height);
    count += 1;
  }
  return count;
}

function marks(scene: Scene, part: Part): void {
  const { context, look, style } = scene;
  const ring = (cell: Cell | null, colour: string, width: number) => {
    if (!cell || cell.panel !== part.panel) return;
    const [x, y] = [part.x + cell.column * look.width, part.y + cell.row * look.height];
    const [w, h] = [Math.max(look.width, 4), Math.max(look.height, 4)];
    context.strokeStyle = style.getPropertyValue("--mark-edge");
    context.lineWidth = width + 2.5;
    context.strokeRect(x, y, w, h);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(x, y, w, h);
  };
  const accent = style.getPropertyValue("--mark");
  for (const cell of scene.marks) ring(cell, accent, 2.5);
  ring(scene.cursor, style.getPropertyValue("--accent"), 2);
  ring(scene.hover, accent, 2.5);
}

/** Numbers of rows and columns, which stay in view, and the title. */
function margins(scene: Scene, part: Part, x: number, y: number): void {
  const { context, look, style, source, view } = scene;
  const { row, column, rows, columns } = part;
  const [left, top] = [Math.max(x, 0), Math.max(y, 0)];
  const [faint, strong] = [style.getPropertyValue("--faint"), style.getPropertyValue("--text")];
  const hot = scene.hover ?? scene.cursor;
  const here = hot && hot.panel === part.panel ? hot : null;
  context.font = `11px ${MONO}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const down = every(look.height, 13, source.cuts[0]);
  const rowAt = (i: number) => {
    const at = part.y + (i + 0.5) * look.height;
    if (i >= source.rows || at < top + look.top - 2) return;
    context.fillStyle = here?.row === i ? strong : faint;
    context.fillText(source.rowLabel(i), left + look.left - 7, at);
  };
  for (let i = first(row, down); i < row + rows; i += down) rowAt(i);
  if (here && here.row % down !== 0) rowAt(here.row);
  context.textAlign = "center";
  const widest = source.columnLabel(source.columns - 1).length * 6.8 + 8;
  const across = every(look.width, widest, source.cuts[1]);
  const columnAt = (j: number) => {
    const at = part.x + (j + 0.5) * look.width;
    if (j >= source.columns || at < left + look.left - 2 || at > view[0]) return;
    context.fillStyle = here?.column === j ? strong : faint;
    context.fillText(source.columnLabel(j), at, top + look.top - 10);
  };
  for (let j = first(column, across); j < column + columns; j += across) columnAt(j);
  if (here && here.column % across !== 0) columnAt(here.column);
  if (look.title === 0) return;
  context.textAlign = "left";
  context.fillStyle = strong;
  context.font = `600 12px ${MONO}`;
  context.fillText(source.title(part.panel), left + look.left, top + 11);
}

/** Which rows or columns are numbered: as many as there is room for, the first of each tile where there are any. */
function every(size: number, least: number, cuts: readonly number[]): number {
  const [tile = 0] = cuts;
  const steps = tile > 1 ? Array.from({ length: tile }, (_, i) => i + 1).filter((n) => tile % n === 0) : [1, 2, 4, 5, 10, 20, 50, 100];
  const step = steps.find((n) => n * size >= least);
  if (step) return step;
  const whole = steps.at(-1)!;
  return whole * 2 ** Math.ceil(Math.log2(least / (whole * size)));
}
