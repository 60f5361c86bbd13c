// A grid with its title, tools and the line that says what is pointed at.

import { button, h } from "./dom.js";
import { Grid } from "./grid.js";
import type { Cell } from "./source.js";

interface Options {
  title: string;
  /** Of what it is a picture: cells of an array, all to be seen, or lines of memory. */
  kind: "main" | "memory";
  onPoint: (cell: Cell | null, chosen: boolean) => void;
  zoomed?: () => void;
  tools?: Node[];
}

/** The size of a cell, and the largest that is chosen to use the room. */
const SIZES = { main: { base: 30, largest: 52, whole: true }, memory: { base: 24, largest: 32, whole: false } } as const;

/** A titled grid. */
export class Pane {
  readonly element: HTMLElement;
  readonly grid: Grid;
  private readonly heading: HTMLElement;
  private bounds: readonly [number, number] = [70, 320];
  private readonly said = h("p", { class: "said" });

  constructor(options: Options) {
    this.grid = new Grid({
      label: options.title,
      onPoint: options.onPoint,
      ...SIZES[options.kind],
      zoomed: () => {
        this.sized();
        options.zoomed?.();
      },
    });
    this.heading = h("h2", {}, options.title);
    const zoom = h(
      "span",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("−", "Smaller", () => this.grid.scale(1 / 1.25), "sign"),
      button("+", "Larger", () => this.grid.scale(1.25), "sign"),
      button("Fit", "Fit to view", () => this.grid.fit(), "sign"),
    );
    this.element = h(
      "section",
      { class: `pane ${options.kind}` },
      h("header", {}, this.heading, h("span", { class: "tools" }, ...(options.tools ?? []), zoom)),
      this.grid.element,
      h("footer", {}, this.said),
    );
  }

  /** The title of the pane, which is the name of its grid. */
  title(text: string): void {
    this.heading.textContent = text;
    this.grid.element.setAttribute("aria-label", text);
  }

  /** One more tool. */
  tool(element: HTMLElement): void {
    this.element.querySelector(".tools")!.append(element);
  }

  /** The line below. */
  say(text: string): void {
    this.said.textContent = text;
  }

  /** As high as its picture, within bounds. */
  height(least: number, most: number): void {
    this.bounds = [least, most];
    this.sized();
  }

  private sized(): void {
    const [least, most] = this.bounds;
    this.grid.element.style.height = `${Math.max(least, Math.min(most, this.grid.within(most)))}px`;
  }
}
