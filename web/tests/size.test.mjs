// The page is small.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";

const DIST = new URL("../dist/", import.meta.url);

test("all of it takes less than 500 kB, compressed", async () => {
  const [sums, names] = [{ brotli: 0, gzip: 0 }, await readdir(DIST)];
  for (const name of names) {
    const bytes = await readFile(new URL(name, DIST));
    sums.brotli += brotliCompressSync(bytes).length;
    sums.gzip += gzipSync(bytes, { level: 9 }).length;
  }
  console.log(`${names.length} files: ${sums.brotli} bytes with brotli, ${sums.gzip} with gzip`);
  assert.ok(sums.brotli < 500_000, `${sums.brotli}`);
});

test("nothing is fetched from elsewhere", async () => {
  for (const name of ["index.html", "page.css", "page.js", "worker.js"]) {
    const text = await readFile(new URL(name, DIST), "utf8");
    const addresses = text.match(/\bhttps?:\/\/[^\s"'`)]+/g) ?? [];
    assert.deepEqual(addresses.filter((address) => !address.startsWith("http://www.w3.org/")), [], name);
  }
});
