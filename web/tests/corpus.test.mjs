// The page's WebAssembly is asked what Rust and Python are asked, and answers the same.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ask, initSync, View } from "../generated/tilewright_web.js";

initSync({ module: await readFile(new URL("../dist/tilewright.wasm", import.meta.url)) });
const corpus = await readFile(new URL("../../corpus/answers.jsonl", import.meta.url), "utf8");
// Bank conflicts are no question of the page, nor is the swizzle that would end them.
const lines = corpus.trimEnd().split("\n").filter((line) => !/^\{"ask":"bank_conflicts"|swizzle_between/.test(line));

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
