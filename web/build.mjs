// Puts the page together: `node build.mjs`, after the WebAssembly and its JavaScript lie in `generated/`.

import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const dist = here("dist/");

const options = { bundle: true, minify: true, target: "es2022", legalComments: "none", logLevel: "warning" };
await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await cp(here("static/"), dist, { recursive: true });
await cp(here("generated/tilewright_web_bg.wasm"), here("dist/tilewright.wasm"));

// What is loaded when it is first needed. Its name changes with its content: a page never gets that of another version.
const late = await build({ ...options, entryPoints: [here("src/late.ts")], format: "esm", write: false });
const module = await readFile(here("generated/late/tilewright_web_bg.wasm"));
const named = (hash) => hash.digest("hex").slice(0, 16);
const LATE = `late-${named(createHash("sha256").update(late.outputFiles[0].contents).update(module))}`;
await writeFile(`${dist}${LATE}.js`, late.outputFiles[0].contents);
await writeFile(`${dist}${LATE}.wasm`, module);
const names = { LATE: JSON.stringify(LATE) };
await build({ ...options, define: names, entryPoints: [here("src/main.ts")], format: "esm", outfile: here("dist/page.js") });

// The name under which a browser keeps these files: another for other files.
const hash = createHash("sha256");
for (const name of (await readdir(dist)).sort()) hash.update(name).update(await readFile(dist + name));
const define = { ...names, VERSION: JSON.stringify(`tilewright-${named(hash)}`) };
await build({ ...options, define, entryPoints: [here("src/worker.ts")], outfile: here("dist/worker.js") });

// Codes of distances, as postfix bits and direct codes. Which make a file shortest changes with its content, by some hundred
// bytes, so each file takes the best.
const CODES = [[0, 8], [1, 10], [2, 8]];
const brotli = (bytes) => {
  const packed = CODES.map(([postfix, direct]) => {
    const params = { [constants.BROTLI_PARAM_NPOSTFIX]: postfix, [constants.BROTLI_PARAM_NDIRECT]: direct };
    return brotliCompressSync(bytes, { params });
  });
  return packed.reduce((best, next) => (next.length < best.length ? next : best));
};

// Beside each file it compressed, as servers of static files look for it.
const sums = [0, 0, 0];
const row = (name, numbers) => console.log(name.padEnd(26), ...numbers.map((number) => `${number}`.padStart(9)));
console.log("".padEnd(26), ...["bytes", "gzip", "brotli"].map((title) => title.padStart(9)));
for (const name of (await readdir(dist)).sort()) {
  const bytes = await readFile(dist + name);
  const packed = { ".gz": gzipSync(bytes, { level: 9 }), ".br": brotli(bytes) };
  for (const [ending, content] of Object.entries(packed)) await writeFile(dist + name + ending, content);
  const numbers = [bytes.length, packed[".gz"].length, packed[".br"].length];
  numbers.forEach((number, i) => (sums[i] += number));
  row(name, numbers);
}
row("in all", sums);
