// The page is small, and so is what it loads later.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

const DIST = new URL("../dist/", import.meta.url);

const NAMES = (await readdir(DIST)).filter((name) => !/\.(gz|br)$/.test(name));
const isLate = (name) => name.startsWith("late-");

test("what it starts with takes less than 520 KiB as it is served, compressed", async () => {
  assert.ok((await brotli(NAMES.filter((name) => !isLate(name)))) < 520 * 1024);
});

test("what it loads when it is first needed takes less than 576 KiB", async () => {
  const late = NAMES.filter(isLate);
  assert.equal(late.length, 2);
  assert.ok((await brotli(late)) < 576 * 1024);
});

/** The bytes of files, compressed by brotli. */
async function brotli(names) {
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
  return sums.brotli;
}

test("nothing is fetched from elsewhere", async () => {
  for (const name of NAMES.filter((name) => /\.(html|css|js)$/.test(name))) {
    const text = await readFile(new URL(name, DIST), "utf8");
    const addresses = text.match(/\bhttps?:\/\/[^\s"'`)]+/g) ?? [];
    assert.deepEqual(addresses.filter((address) => !address.startsWith("http://www.w3.org/")), [], name);
  }
});
