// A grid with its title, tools and the line that says what is pointed at.

import { button, h } from "./dom.js";
import { Grid } from "./grid.js";
import type { Cell } from "./source.js";

interface Options {
  title: string;
  kind?: string;
  base?: number;
  onPoint: (cell: Cell | null, chosen: boolean) => void;
  zoom?: (zoom: number) => void;
  tools?: Node[];
}

/** A titled grid. */
export class Pane {
  readonly element: HTMLElement;
  readonly grid: Grid;
  private readonly heading: HTMLElement;
  private readonly said = h("p", { class: "said" });

  constructor(options: Options) {
    this.grid = new Grid({
      label: options.title,
      onPoint: options.onPoint,
      ...(options.base ? { base: options.base } : {}),
      ...(options.zoom ? { zoom: options.zoom } : {}),
    });
    this.heading = h("h2", {}, options.title);
    const zoom = h(
      "span",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("−", "Smaller", () => this.grid.scale(this.grid.zoom / 1.25), "sign"),
      button("+", "Larger", () => this.grid.scale(this.grid.zoom * 1.25), "sign"),
      button("Fit", "Fit to view", () => this.grid.fit(), "sign"),
    );
    this.element = h(
      "section",
      { class: `pane ${options.kind ?? ""}` },
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
    this.grid.element.style.height = `${Math.max(least, Math.min(most, this.grid.needed))}px`;
  }
}
