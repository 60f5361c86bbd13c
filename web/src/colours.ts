// Colours that stay apart for every eye: ramps whose lightness only falls (or only rises), and the eight of
// Okabe and Ito.

/** What the cells are coloured by. */
export type Colouring = "order" | "tile" | "bank" | "none";

/** The colours of cells: what stands for each of 256 shades, and the text on it. */
export interface Palette {
  fills: Uint32Array;
  dark: Uint8Array;
}

type Rgb = readonly [number, number, number];

const LIGHT = ["#fcf4d9", "#d6e8c3", "#a3d1c2", "#7fb2d4", "#7287c4"];
const DARK = ["#20294a", "#27507a", "#2c7788", "#5c9c86", "#c9bd76"];
const EIGHT = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00", "#999999"];

function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function mix(a: Rgb, b: Rgb, part: number): Rgb {
  const one = (i: 0 | 1 | 2) => Math.round(a[i] + (b[i] - a[i]) * part);
  return [one(0), one(1), one(2)];
}

/** The relative luminance, by the formula of the accessibility guidelines. */
function luminance(colour: Rgb): number {
  const part = (x: number) => ((x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part(colour[0]) + 0.7152 * part(colour[1]) + 0.0722 * part(colour[2]);
}

function palette(colours: readonly Rgb[]): Palette {
  const fills = new Uint32Array(256);
  const dark = new Uint8Array(256);
  for (let i = 0; i < 256; i++) {
    const colour = colours[i % colours.length]!;
    fills[i] = 0xff000000 | (colour[2] << 16) | (colour[1] << 8) | colour[0];
    // Black and white are as far from this colour as from one another: the better of them has 4.58 : 1 at least.
    dark[i] = luminance(colour) < 0.179 ? 1 : 0;
  }
  return { fills, dark };
}

function ramp(stops: readonly string[]): Rgb[] {
  const colours = stops.map(rgb);
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (colours.length - 1);
    const stop = Math.min(Math.floor(at), colours.length - 2);
    return mix(colours[stop]!, colours[stop + 1]!, at - stop);
  });
}

/** The palette of a colouring; shades are 0–255 of a ramp, or numbers of a category. */
export function paletteOf(colouring: Colouring, dark: boolean): Palette {
  const paper = rgb(dark ? "#1a1e29" : "#ffffff");
  switch (colouring) {
    case "order":
      return palette(ramp(dark ? DARK : LIGHT));
    case "bank":
      return palette(banks(paper));
    case "tile":
      return palette(EIGHT.map((hex) => mix(rgb(hex), paper, dark ? 0.55 : 0.6)));
    case "none":
      return palette([paper]);
  }
}

/** A colour for each of the 32 banks: a hue for each four, and four shades of it. */
function banks(paper: Rgb): Rgb[] {
  return EIGHT.flatMap((hex) => [0.2, 0.38, 0.56, 0.74].map((part) => mix(rgb(hex), paper, part)));
}

/** The colours of the banks as the legend shows them. */
export function bankColours(dark: boolean): string[] {
  return Array.from(paletteOf("bank", dark).fills.subarray(0, 32), (fill) => `rgb(${fill & 255} ${(fill >> 8) & 255} ${(fill >> 16) & 255})`);
}

/** The ramp as the legend shows it. */
export function gradient(dark: boolean): string {
  return `linear-gradient(to right, ${(dark ? DARK : LIGHT).join(", ")})`;
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}
