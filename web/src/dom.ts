// Elements, made in one line each.

type Attributes = Record<string, string | number | boolean | null | ((event: Event) => void)>;
type Child = Node | string | null | undefined | false;

/** An element with attributes, listeners (`onclick: f`) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null) element.setAttribute(key, String(value));
  }
  element.append(...children.filter((child): child is Node | string => !!child || child === ""));
  return element;
}

/** Replaces what is in an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((child): child is Node | string => !!child));
}

let ids = 0;

/** A name no other element has. */
export function id(prefix: string): string {
  ids += 1;
  return `${prefix}-${ids}`;
}

/** A list to choose from. */
export function select(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  change: (value: string) => void,
): HTMLSelectElement {
  const choices = options.map(([value, text]) => h("option", { value }, text));
  const element = h("select", { "aria-label": label, title: label }, ...choices);
  element.addEventListener("change", () => change(element.value));
  return element;
}

/** A button with a text, or a sign and a name. */
export function button(text: string, name: string, click: () => void, kind = ""): HTMLButtonElement {
  return h("button", { type: "button", "aria-label": name, title: name, class: kind, onclick: click }, text);
}

/** Copies a text, and says so on the button for a moment. */
export function copier(text: () => string, name = "Copy"): HTMLButtonElement {
  const made = button("Copy", name, () => {
    const done = navigator.clipboard?.writeText(text()) ?? Promise.reject(new Error("no clipboard"));
    done.then(
      () => flash(made, "Copied"),
      () => flash(made, "No clipboard"),
    );
  }, "quiet");
  return made;
}

function flash(element: HTMLElement, text: string): void {
  const before = element.textContent;
  if (before === text) return;
  element.textContent = text;
  say(text);
  setTimeout(() => (element.textContent = before), 1200);
}

/** Tells those who listen. */
export function say(text: string): void {
  const live = document.getElementById("live");
  if (live && live.textContent !== text) live.textContent = text;
}

/** A button that saves a file made at that moment; nothing where there is none. */
export function saver(text: string, name: string, file: string, make: () => string | null): HTMLButtonElement {
  return button(text, name, () => {
    const content = make();
    if (content === null) return;
    const address = URL.createObjectURL(new Blob([content], { type: "image/svg+xml" }));
    h("a", { href: address, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }, "quiet");
}
