// The sizes of a grid at a zoom, and the zoom that uses the room there is.

import type { Source } from "./source.js";

/** The sizes of a grid, in pixels. */
export interface Look {
  width: number;
  height: number;
  font: number;
  left: number;
  /** The width of a panel with its margin. */
  room: number;
  top: number;
  title: number;
}

/** How large cells are, and what is to fit. */
export interface Shape {
  base: number;
  largest: number;
  whole: boolean;
}

/** So many rows are rather scrolled than made smaller than a cell that can be read. */
const [SCROLLED, READ] = [64, 20];
/** The room between panels. */
const GAP = 22;
/** A tile is seen as one from this size on, and a cell of many panels as a cell. */
const [TILE, CELL] = [4, 12];
/** The least breadth of a picture that is long and narrow, and the size of a cell that is enough for it. */
const [BREADTH, ENOUGH] = [120, 10];

/** The sizes of everything at a zoom. */
export function lookOf(source: Source, { base }: Shape, zoom: number): Look {
  const height = base * zoom;
  // Small cells give more of their height to what stands in them.
  const font = Math.min(Math.max(height * 0.42, Math.min(height * 0.54, 8)), 17);
  const width = Math.max(height * 1.15, font >= 6.5 ? source.widest * font * 0.62 + 10 * Math.min(zoom, 1) : 0);
  const last = source.rowLabel(Math.max(source.rows - 1, 0));
  const left = last ? Math.max(last.length * 7.2 + 14, 30) : 10;
  const title = source.title(source.across * source.down - 1);
  // The width of its title is the least of a panel.
  const room = left + Math.max(source.columns * width, title.length * 7.4);
  return { width, height, font, left, room, title: title ? 22 : 0, top: (title ? 22 : 0) + 22 };
}

/** How far panels are apart. */
export function pitchOf({ rows }: Source, look: Look): [number, number] {
  return [look.room + GAP, look.top + rows * look.height + GAP];
}

/** The size of `across` by `down` cells. */
export function wholeOf(source: Source, look: Look, across = source.across, down = source.down): [number, number] {
  const [width, height] = pitchOf(source, look);
  return [across * width - GAP + 4, down * height - GAP + 4];
}

/**
 * The zoom at which all of it can be seen, or its width where that is what is to fit. Of many panels one is enough;
 * tiles stay large enough to be seen, and what is long and narrow does not become a line.
 */
export function fitting(source: Source | null, [width, height]: readonly [number, number], shape: Shape): number {
  if (!source) return 1;
  const fit = (across: number, down: number, whole = shape.whole) => {
    let [low, high] = [1e-10, shape.largest / shape.base];
    for (let i = 0; i < 60 && high / low > 1.002; i++) {
      const zoom = Math.sqrt(low * high);
      const [w, h] = wholeOf(source, lookOf(source, shape, zoom), across, down);
      if (w <= width && (h <= height || !whole)) low = zoom;
      else high = zoom;
    }
    return low;
  };
  if (!shape.whole) return Math.max(fit(1, 1), CELL / shape.base);
  let size = fit(source.across, source.down) * shape.base;
  if (source.across * source.down > 1 && size < CELL) size = Math.max(size, Math.min(fit(1, 1) * shape.base, 2 * CELL));
  const tiles = source.cuts.map((sizes) => sizes.at(-1) ?? 0).filter((tile) => tile > 0);
  for (const tile of tiles) size = Math.max(size, Math.min(TILE / tile, 1));
  // What is only a little too high is scrolled, not shrunk beyond reading.
  if (source.rows * source.down <= SCROLLED) size = Math.max(size, Math.min(fit(source.across, 1, false) * shape.base, READ));
  const short = Math.max(Math.min(source.rows, source.columns), 1);
  return Math.max(size, Math.min(ENOUGH, BREADTH / short)) / shape.base;
}
