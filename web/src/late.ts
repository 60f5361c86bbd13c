// The library with everything in it: the page loads it when a question first needs more than the module that it starts with.

import init, { ask, View } from "../generated/late/tilewright_web.js";

export { ask, View };

/** Loads the module beside this script, whose own URL has a query where an attempt before failed. */
export async function load(): Promise<void> {
  await init({ module_or_path: new URL(import.meta.url.replace(/js(\?.*)?$/, "wasm")) });
}
