// The page is small.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

const DIST = new URL("../dist/", import.meta.url);

test("all of it takes less than 520 KiB as it is served, compressed", async () => {
  const names = (await readdir(DIST)).filter((name) => !/\.(gz|br)$/.test(name));
  const sums = { bare: 0, gzip: 0, brotli: 0 };
  for (const name of names) {
    const read = (ending) => readFile(new URL(`${name}${ending}`, DIST));
    const [bare, gzip, brotli] = [await read(""), await read(".gz"), await read(".br")];
    assert.deepEqual([gunzipSync(gzip), brotliDecompressSync(brotli)], [bare, bare], name);
    sums.bare += bare.length;
    sums.gzip += gzip.length;
    sums.brotli += brotli.length;
  }
  console.log(`${names.length} files: ${sums.bare} bytes, ${sums.gzip} with gzip, ${sums.brotli} with brotli`);
  assert.ok(sums.brotli < 520 * 1024, `${sums.brotli}`);
});

test("nothing is fetched from elsewhere", async () => {
  for (const name of ["index.html", "page.css", "page.js", "worker.js"]) {
    const text = await readFile(new URL(name, DIST), "utf8");
    const addresses = text.match(/\bhttps?:\/\/[^\s"'`)]+/g) ?? [];
    assert.deepEqual(addresses.filter((address) => !address.startsWith("http://www.w3.org/")), [], name);
  }
});
