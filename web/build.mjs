// Puts the page together: `node build.mjs`, after the WebAssembly and its JavaScript lie in `generated/`.

import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const dist = here("dist/");

const options = { bundle: true, minify: true, target: "es2022", legalComments: "none", logLevel: "warning" };
await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await cp(here("static/"), dist, { recursive: true });
await cp(here("generated/tilewright_web_bg.wasm"), here("dist/tilewright.wasm"));
await build({ ...options, entryPoints: [here("src/main.ts")], format: "esm", outfile: here("dist/page.js") });

// The name under which a browser keeps these files: another for other files.
const hash = createHash("sha256");
for (const name of (await readdir(dist)).sort()) hash.update(name).update(await readFile(dist + name));
const define = { VERSION: JSON.stringify(`tilewright-${hash.digest("hex").slice(0, 16)}`) };
await build({ ...options, define, entryPoints: [here("src/worker.ts")], outfile: here("dist/worker.js") });

let whole = 0;
for (const name of (await readdir(dist)).sort()) {
  const bytes = await readFile(dist + name);
  const packed = gzipSync(bytes, { level: 9 }).length;
  whole += packed;
  console.log(`${name.padEnd(16)} ${`${bytes.length}`.padStart(9)} bytes ${`${packed}`.padStart(9)} with gzip`);
}
console.log(`in all ${`${whole}`.padStart(35)} with gzip`);
