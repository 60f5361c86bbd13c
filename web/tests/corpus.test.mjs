// The page's WebAssembly is asked what Rust and Python are asked, and answers the same. The module that the page starts with
// answers the page's own questions as the whole library does, or says that it was built without what they need.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import * as first from "../generated/tilewright_web.js";
import * as late from "../generated/late/tilewright_web.js";

const { ask, View } = late;
const DIST = new URL("../dist/", import.meta.url);
const names = await readdir(DIST);
const modules = ["tilewright.wasm", names.find((name) => /^late-.*\.wasm$/.test(name))].map((name) => readFile(new URL(name, DIST)));
const [small, whole] = await Promise.all(modules);
first.initSync({ module: small });
late.initSync({ module: whole });
const corpus = await readFile(new URL("../../corpus/answers.jsonl", import.meta.url), "utf8");
const lines = corpus.trimEnd().split("\n");

/** Integers beyond what a number holds stay what they are: as text. */
const parsed = (text) => JSON.parse(text.replace(/([[,:]\s*)(-?\d{16,})(?=\s*[,\]}])/g, '$1"$2"'));

/** All questions, but every twelfth of which names a layout has, the slowest; all of these where TILEWRIGHT_LAWS is set. */
function asked(lines) {
  const every = process.env["TILEWRIGHT_LAWS"] === undefined ? 12 : 1;
  let names = 0;
  return lines.filter((line) => !line.startsWith('{"ask":"recognise"') || names++ % every === 0);
}

test("every recorded question has its recorded answer", () => {
  const kinds = new Map();
  const wrong = [];
  const some = asked(lines);
  for (const line of some) {
    const { answer: recorded, ask: kind } = parsed(line);
    const answer = parsed(ask(line));
    // The page also says which field is at fault, and what is wrong in words, which the file does not.
    if (answer?.error) answer.error = { kind: answer.error.kind, span: answer.error.span };
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    try {
      assert.deepEqual(answer, recorded);
    } catch {
      wrong.push(`${line}\n  now ${JSON.stringify(answer)}`);
    }
  }
  console.log(`${some.length} of ${lines.length} questions:`, Object.fromEntries(kinds));
  assert.equal(wrong.length, 0, `${wrong.length} answers differ:\n${wrong.slice(0, 5).join("\n")}`);
  assert.ok(lines.length > 15_000 && some.length > 10_000, `${some.length} of ${lines.length}`);
});

test("the first module answers the page's questions as the whole library does", () => {
  const explained = lines.filter((line) => line.startsWith('{"ask":"explain"')).map((line) => JSON.parse(line));
  let alike = 0;
  for (const { spec, dims, dtype } of explained.filter((_, number) => number % 3 === 0)) {
    for (const kind of ["view", "spread"]) {
      const question = JSON.stringify({ ask: kind, spec, dims: dims ?? "", dtype: dtype ?? "" });
      const answer = first.ask(question);
      if (JSON.parse(answer)?.error?.kind === "not-built") continue;
      assert.equal(answer, ask(question), question);
      alike += 1;
    }
  }
  assert.ok(alike > 180, `${alike}`);
});

test("the first module contains no late parts, and says so by the kind of the error", () => {
  const kind = (answer) => JSON.parse(answer).error?.kind;
  const tabled = ["f16[4,8] table(0; 0,2,3,1) row-major", "u1[64,5,3] GPTQ_3BIT", `[5000] table(0; ${Array(5000).fill(0).map((_, i) => 4999 - i)}) row-major`];
  const questions = tabled.flatMap((spec) => [{ ask: "view", spec }, { ask: "convert", a: spec, b: "row-major" }, { ask: "plan", a: "row-major", b: spec, dims: "4,8" }]);
  for (const question of [...questions, { ask: "recognise", spec: "4:1" }].map((one) => JSON.stringify(one))) {
    assert.equal(kind(first.ask(question)), "not-built", question);
    assert.notEqual(kind(ask(question)), "not-built", question);
  }
  assert.equal(first.View.open(tabled[0], "", ""), undefined);
  // What is wrong in another way is not looked for in the late module.
  for (const spec of ["row-mayor", "tables(0; 1)", "GPTQ_3BITS", "f16[4"]) {
    assert.equal(kind(first.ask(JSON.stringify({ ask: "view", spec }))), "parse", spec);
  }
  const texts = ["ends in a hole", "an index table has at most"].filter((text) => whole.includes(text));
  assert.ok(texts.length > 0 && texts.every((text) => !small.includes(text)));
});

test("an array with an index table is read cell by cell as its table says", () => {
  const rows = [3, 1, null, 0, 2];
  const view = View.open("[4,6] table(0; 3,1,-,0,2) row-major", "", "");
  view.grid(new Float64Array(), 0, 0, 4, 6).forEach((offset, i) => assert.equal(offset, rows.indexOf(Math.floor(i / 6)) * 6 + (i % 6)));
  const memory = view.memory(0, 30);
  for (let offset = 0; offset < 30; offset++) {
    const row = rows[Math.floor(offset / 6)];
    assert.deepEqual([...memory.subarray(3 * offset, 3 * offset + 3)], row === null ? [0, 0, 0] : [1, row, offset % 6]);
  }
  view.free();
});

test("a window of a million elements is read cell by cell as the layout says", () => {
  const spec = "[1024,1024] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0";
  const view = View.open(spec, "", "");
  const cells = view.grid(new Float64Array(), 1000, 1000, 24, 24);
  cells.forEach((offset, i) => {
    const coord = [1000 + Math.floor(i / 24), 1000 + (i % 24)];
    assert.equal(offset, JSON.parse(ask(JSON.stringify({ ask: "offset", spec, coord }))).offset);
  });
  view.free();
});

test("no text makes it stop", () => {
  for (const text of ["", "\0", "(".repeat(5000), "9".repeat(40), "🦀:1", "((((4:1", "eval:", "a o b", "f32[1,2,"]) {
    for (const kind of ["view", "eval", "parse", "convert", "step"]) {
      const question = { ask: kind, spec: text, text, a: text, b: text, op: "coalesce", dims: text, dtype: text };
      assert.doesNotThrow(() => JSON.parse(ask(JSON.stringify(question))));
    }
  }
  assert.equal(JSON.parse(ask('{"ask":"eval","text":"size(4:1)"}')).value, 4);
});
