// The page: parts, address, theme. What most layouts need is loaded at the start; then it works without a network.

import { AlgebraPart } from "./algebra_part.js";
import { ConvertPart } from "./convert_part.js";
import { copier, fill, h, say } from "./dom.js";
import { CHANGED, load } from "./engine.js";
import { GalleryPart } from "./gallery_part.js";
import { LayoutPart } from "./layout_part.js";
import type { PagePart } from "./page.js";
import { fromHash, type Part, PARTS, remember, type State, settled, toHash } from "./state.js";

const TITLES: Record<Part, string> = { layout: "Layout", convert: "Conversion", algebra: "Algebra", gallery: "Gallery" };
const THEMES = ["auto", "light", "dark"] as const;

class Page {
  private readonly parts: Record<Part, PagePart>;
  private readonly main = document.getElementById("main")!;
  private readonly tabs = document.getElementById("tabs")!;
  private part: Part | null = null;

  constructor() {
    const changed = () => this.changed();
    this.parts = {
      layout: new LayoutPart(changed),
      convert: new ConvertPart(changed),
      algebra: new AlgebraPart(changed),
      gallery: new GalleryPart(changed),
    };
    const links = PARTS.map((part) => h("a", { href: `#${part}`, "data-part": part }, TITLES[part]));
    fill(this.tabs, ...links);
    addEventListener("hashchange", () => this.open());
    addEventListener(CHANGED, () => this.refresh());
    // A link to the content is no address of the page.
    document.getElementById("skip")!.addEventListener("click", (event) => {
      event.preventDefault();
      this.main.focus();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    let resized = 0;
    addEventListener("resize", () => {
      clearTimeout(resized);
      resized = setTimeout(() => this.repaint(), 100) as unknown as number;
    });
    const tools = document.getElementById("tools")!;
    tools.append(copier(() => new URL(toHash(this.state()), location.href).href, "Copy a link to what is shown"), this.theme());
    tools.querySelector("button")!.textContent = "Copy link";
    this.open();
  }

  /** Shows what the address says. */
  private open(): void {
    settled();
    const { part, fields } = fromHash(location.hash);
    const known = part === this.part;
    const first = this.part === null;
    this.part = part;
    if (!known) fill(this.main, this.parts[part].element);
    this.parts[part].restore(fields);
    this.kept();
    for (const link of this.tabs.querySelectorAll("a")) {
      if (link.dataset["part"] === part) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.titled();
    if (!known && !first) {
      this.main.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    if (!known) say(`${TITLES[part]}: ${this.parts[part].name()}`);
  }

  /** Asks again for what is shown, and goes to the cell that the address names. */
  private refresh(): void {
    const { part, fields } = this.state();
    this.parts[part].restore({ ...fields, at: fields["at"] || (fromHash(location.hash).fields["at"] ?? "") });
    this.kept();
    this.titled();
  }

  /** What is shown, as an address says it. */
  private state(): State {
    const part = this.part ?? "layout";
    return { part, fields: this.parts[part].fields() };
  }

  private changed(): void {
    remember(this.state());
    this.kept();
    this.titled();
  }

  /** The way back to this part leads to what it shows. */
  private kept(): void {
    const { part } = this.state();
    this.tabs.querySelector(`a[data-part=${part}]`)!.setAttribute("href", toHash(this.state()));
  }

  private titled(): void {
    document.title = `${this.parts[this.part ?? "layout"].name()} · Tilewright`;
  }

  private repaint(): void {
    this.parts[this.part ?? "layout"].repaint();
  }

  /** Dark, light, or as the system has it; kept where the browser keeps such things. */
  private theme(): HTMLElement {
    const choice = h("select", { "aria-label": "Theme", title: "Theme" }, ...THEMES.map((theme) => h("option", { value: theme }, theme)));
    const set = (theme: string) => {
      document.documentElement.dataset["theme"] = theme;
      this.repaint();
    };
    choice.value = document.documentElement.dataset["theme"] ?? "auto";
    choice.addEventListener("change", () => {
      set(choice.value);
      try {
        localStorage.setItem("theme", choice.value);
      } catch {
        // A browser that keeps nothing: the choice lasts as long as the page.
      }
    });
    return choice;
  }
}

function chosenTheme(): string {
  try {
    return localStorage.getItem("theme") ?? "auto";
  } catch {
    return "auto";
  }
}

async function start(): Promise<void> {
  document.documentElement.dataset["theme"] = chosenTheme();
  try {
    await load(new URL("tilewright.wasm", document.baseURI));
    performance.mark("library");
    new Page();
    document.documentElement.dataset["ready"] = "yes";
  } catch (error) {
    fill(document.getElementById("main")!, h("p", { class: "failed" }, `The page did not start: ${String(error)}`));
    throw error;
  }
  if ("serviceWorker" in navigator && location.protocol.startsWith("http")) {
    navigator.serviceWorker.register("worker.js").catch(() => undefined);
  }
}

void start();
