// What the page shows, as an address: whoever opens it sees the same.

/** The parts of the page. */
export const PARTS = ["layout", "convert", "algebra", "gallery"] as const;
export type Part = (typeof PARTS)[number];

/** Texts by name; an empty one is not there. */
export type Fields = Record<string, string>;

export interface State {
  part: Part;
  fields: Fields;
}

/** An address as people can read it: only what must be is escaped. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/%20/g, "+").replace(/%(2C|3A|5B|5D|7B|7D|3B|40|24|2F)/g, (code) => decodeURIComponent(code));
}

/** The address of a state, from `#` on. */
export function toHash({ part, fields }: State): string {
  const pairs = Object.entries(fields).filter(([, value]) => value !== "");
  const query = pairs.map(([key, value]) => `${key}=${escaped(value)}`).join("&");
  return `#${part}${query ? `?${query}` : ""}`;
}

/** The state of an address; anything strange is the first part with nothing in it. */
export function fromHash(hash: string): State {
  const [name = "", query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const part = PARTS.find((part) => part === name) ?? "layout";
  const fields: Fields = {};
  for (const [key, value] of new URLSearchParams(query)) fields[key] = value;
  return { part, fields };
}

let pending = 0;

/** Writes the state to the address bar: a new page of the history for another part, else in place. */
export function remember(state: State): void {
  const hash = toHash(state);
  if (fromHash(location.hash).part !== state.part) {
    history.pushState(null, "", hash);
    return;
  }
  // Browsers refuse more than a few a second.
  clearTimeout(pending);
  pending = setTimeout(() => history.replaceState(null, "", hash), 120) as unknown as number;
}

/** Forgets what was to be written: the address has been changed by hand. */
export function settled(): void {
  clearTimeout(pending);
}
