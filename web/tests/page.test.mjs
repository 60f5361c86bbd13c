// The page as people use it, in a browser without a screen. What is asserted is counted, not timed; times are
// printed.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { DIST, drawn, open, serve, session } from "./browser.mjs";

const SCREENSHOTS = process.env["SCREENSHOTS"] ?? "screenshots";
const MILLION = "#layout?spec=[1024,1024] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0";
const TABLED = "f16[3,8] table(0; 2,-,0,1) row-major";
let server, browser, visit, stop;

before(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  ({ server, browser, visit, stop } = await session());
});

after(async () => await stop?.());

const grid = (page, i = 0) => page.locator(".grid").nth(i);
const said = (page, i = 0) => page.locator(".said").nth(i).textContent();
const counts = (page, i = 0) => grid(page, i).evaluate((element) => ({ ...element.drawn }));
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

test("the first picture comes with the first frames", async () => {
  const times = [];
  for (let i = 0; i < 2; i++) {
    await visit("#layout", async (page) => {
      const mark = (name) => page.evaluate((name) => performance.getEntriesByName(name)[0].startTime, name);
      times.push(`${(await mark("picture")).toFixed(0)} (library ${(await mark("library")).toFixed(0)})`);
      const { cells, labels } = await counts(page);
      assert.deepEqual([cells, labels], [96, 96]);
    });
  }
  console.log(`first picture: ${times.join(", ")} ms after the address was opened (nothing kept)`);
});

test("a key costs one frame and draws what can be seen", async () => {
  await visit("#layout", async (page) => {
    const texts = ["(64,64):(64,1)", "((8,8),(8,8)):((8,512),(1,64))", "Sw<3,3,3> o (8,64):(64,1)", "f32[64,64]{1,0:T(8,16)}", "f16[64,64] zN", "[64,64] (m1 m0:16) n -> m1 n m0"];
    const times = await page.evaluate(async (texts) => {
      const input = document.querySelector("input");
      const frame = requestAnimationFrame;
      let spent = 0;
      window.requestAnimationFrame = (draw) => frame((now) => {
        const from = performance.now();
        draw(now);
        spent += performance.now() - from;
      });
      const times = [];
      for (const text of texts) {
        for (let end = 1; end <= text.length; end++) {
          spent = 0;
          const from = performance.now();
          input.value = text.slice(0, end);
          input.dispatchEvent(new InputEvent("input", { bubbles: true }));
          const typed = performance.now() - from;
          await new Promise((done) => frame(() => frame(done)));
          times.push(typed + spent);
        }
      }
      window.requestAnimationFrame = frame;
      return times;
    }, texts);
    console.log(`a key, typed to drawn: median ${median(times).toFixed(1)} ms, slowest ${Math.max(...times).toFixed(1)} ms (${times.length} keys)`);
    const before = await counts(page);
    await page.locator("input").first().press("Backspace");
    await page.keyboard.type("0");
    await drawn(page);
    const { frames, cells } = await counts(page);
    assert.ok(frames - before.frames <= 4, `${frames - before.frames} frames for two keys`);
    assert.ok(cells <= 64 * 64);
  });
});

test("a million elements: only what can be seen is drawn, however far one scrolls", async () => {
  await visit(MILLION, async (page) => {
    // The whole is to be seen first; then cells that can be read.
    const overview = await counts(page);
    assert.ok(overview.cells > 10_000 && overview.cells < 70_000 && overview.labels === 0, JSON.stringify(overview));
    await grid(page).focus();
    await page.keyboard.press("Enter");
    await drawn(page);
    const { frames, cells, labels } = await counts(page);
    assert.ok(cells > 100 && cells < 1500 && labels > 100, `${cells} cells, ${labels} labels`);
    const spent = await grid(page).evaluate(async (element) => {
      const times = [];
      const frame = requestAnimationFrame;
      window.requestAnimationFrame = (draw) => frame((now) => {
        const from = performance.now();
        draw(now);
        times.push(performance.now() - from);
      });
      for (let i = 0; i < 60; i++) {
        element.scrollBy(613, 377);
        await new Promise((done) => frame(() => frame(done)));
      }
      window.requestAnimationFrame = frame;
      return times;
    });
    const after = await counts(page);
    assert.ok(after.frames - frames <= 121 && after.cells < 1500, JSON.stringify(after));
    console.log(`a frame of a million elements: median ${median(spent).toFixed(1)} ms, slowest ${Math.max(...spent).toFixed(1)} ms`);
    await grid(page).focus();
    await page.keyboard.press("Control+End");
    await drawn(page);
    assert.match(await said(page), /element \(1023, 1023\): offset 1048575/);
    // What belongs to it in memory has come into view.
    assert.ok(await grid(page, 1).evaluate((element) => element.scrollTop > 1_000_000));
    // As much of it as fits at the smallest size of a cell.
    await grid(page).press("0");
    await drawn(page);
    await page.screenshot({ path: `${SCREENSHOTS}/million.png` });
  });
  await visit("#layout?spec=bf16[32768,32768]{1,0:T(8,128)(2,1)}", async (page) => {
    await grid(page).focus();
    await page.keyboard.press("Control+End");
    await drawn(page);
    assert.match(await said(page), /element \(32767, 32767\): offset 1073741823/);
    assert.ok((await counts(page)).cells < 70_000);
    await page.keyboard.press("Enter");
    await drawn(page);
    assert.ok((await counts(page)).cells < 1500);
    assert.ok((await counts(page)).labels > 100);
  });
});

// Every fourth example; all of them where TILEWRIGHT_LAWS is set.
test("every example of the gallery opens without a complaint", async () => {
  const every = process.env["TILEWRIGHT_LAWS"] === undefined ? 4 : 1;
  await visit("#gallery", async (page) => {
    await page.screenshot({ path: `${SCREENSHOTS}/gallery.png` });
    const hashes = await page.locator(".card").evaluateAll((cards) => cards.map((card) => card.getAttribute("href")));
    assert.ok(hashes.length > 100, `${hashes.length} cards`);
    for (const hash of hashes.filter((_, number) => number % every === 0)) {
      await page.evaluate((hash) => (location.hash = hash), hash);
      await drawn(page);
      const wrong = await page.locator(".wrong, .stale").count();
      const cells = await page.locator(".grid").evaluateAll((grids) => grids.map((grid) => grid.drawn.cells));
      assert.equal(wrong, 0, hash);
      assert.ok(cells[0] > 0, `${hash}: nothing drawn`);
    }
  });
});

test("layouts of every size and shape are drawn, also the strangest", async () => {
  await visit("#layout", async (page) => {
    const strange = [
      "9223372036854775807:0", "(0,3):(1,2)", "f32[]", "f32[]{:T(256)}", "[0] row-major", "(3,2):(-1,3)", "(4,4):(0,0)",
      "[2,3,4,5,3,4] row-major", "(1073741824,1073741824):(1,1073741824)", "1000000:1", "f32[12,6]{1,0:T(3,4)(2,1)}",
      "[1000000,1000000] (m1 m0:16) n -> m1 n m0", "s4[3,5]{1,0:T(2,2)E(4)}", "[100000,2,3] row-major",
    ];
    for (const spec of strange) {
      await page.locator("input").first().fill(spec);
      await drawn(page);
      assert.equal(await page.locator(".wrong").count(), 0, spec);
      await grid(page).focus();
      for (const key of ["Control+End", "PageUp", "0", "+", "]", "Home", "Escape"]) await page.keyboard.press(key);
      await drawn(page);
      const { cells } = await counts(page);
      assert.ok(cells < 300_000, `${spec}: ${cells} cells`);
    }
  });
});

/** Opens the page in a browser that keeps its files, and lets it load the late module. */
async function keptLate(context, { address }) {
  const opened = await open(context, `${address}#layout`);
  const { page } = opened;
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  // What is loaded later is kept when it has been used once.
  await page.locator("nav a[data-part=gallery]").click();
  await page.getByText("GPTQ_3BIT", { exact: true }).waitFor();
  await page.locator("nav a[data-part=layout]").click();
  return opened;
}

test("it works without a network, also opened anew", async () => {
  const own = await serve();
  const context = await browser.newContext();
  const { page, faults } = await keptLate(context, own);
  await own.stop();
  await page.locator("input").first().fill("f16[32,32] zN");
  for (const part of ["convert", "algebra", "gallery", "layout"]) {
    await page.locator(`nav a[data-part=${part}]`).click();
    await drawn(page);
  }
  assert.deepEqual(faults, []);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await drawn(page);
  // The way back to the first part led to what had been typed there.
  assert.match(await page.title(), /^f16\[32,32\] zN/);
  assert.ok((await counts(page)).cells > 100);
  await page.locator("input").first().fill(TABLED);
  await page.getByText("4 places, 1 of them a hole").waitFor();
  await context.close();
});

test("a late module that did not change is kept when the page is updated", async () => {
  const worker = await readFile(`${DIST}worker.js`, "utf8");
  const changed = {};
  const own = await serve(changed);
  const context = await browser.newContext();
  const { page } = await keptLate(context, own);
  changed["/worker.js"] = worker.replace(/tilewright-[0-9a-f]{16}/g, "tilewright-next");
  await page.evaluate(async () => void (await navigator.serviceWorker.ready).update());
  await page.evaluate(async () => {
    for (let tries = 0; tries < 5000 && (await caches.keys()).join() !== "tilewright-next"; tries++) await new Promise((done) => setTimeout(done, 20));
  });
  assert.deepEqual(await page.evaluate(() => caches.keys()), ["tilewright-next"]);
  await own.stop();
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await page.locator("input").first().fill(TABLED);
  await page.getByText("4 places, 1 of them a hole").waitFor();
  await context.close();
});

test("a browser with no room for the late module loads it nevertheless", async () => {
  const worker = await readFile(`${DIST}worker.js`, "utf8");
  const full = 'Cache.prototype.put = () => Promise.reject(new DOMException("no room", "QuotaExceededError"));';
  const own = await serve({ "/worker.js": full + worker });
  const context = await browser.newContext();
  const { page, faults } = await keptLate(context, own);
  assert.equal(await page.evaluate(async () => (await (await caches.open((await caches.keys())[0])).keys()).filter(({ url }) => url.includes("/late-")).length), 0);
  assert.deepEqual(faults, []);
  await context.close();
  await own.stop();
});

test("what the first module lacks is loaded once, when a text first needs it", async () => {
  await visit("#layout", async (page) => {
    const late = [];
    page.on("request", (request) => request.url().includes("/late-") && late.push(request.url().replace(/.*\./, "")));
    for (const text of ["f16[32,32] zN", "row-mayor", "T.TileLayout(T.S[(8, 4):(4, 1)])"]) await page.locator("input").first().fill(text);
    await page.getByLabel("What colours mean").selectOption("bank");
    await drawn(page);
    assert.deepEqual(late, []);
    await page.locator("input").first().fill(TABLED);
    await page.getByText("4 places, 1 of them a hole").waitFor();
    await page.locator("input").first().fill("u1[64,5,3] GPTQ_3BIT");
    await page.getByText("in groups of 32").waitFor();
    assert.deepEqual(late, ["js", "wasm"]);
    assert.equal(await page.locator(".wrong, .stale").count(), 0);
  });
});

test("a link to an index table opens right away, at its cell", async () => {
  await visit(`#layout?spec=${encodeURIComponent(TABLED)}&at=2,5`, async (page) => {
    await page.getByText("3 indices stored at 4 places, 1 of them a hole").waitFor();
    await drawn(page);
    assert.match(await said(page), /element \(2, 5\): offset 5, byte 10$/);
    assert.equal((await counts(page)).cells, 24);
    // Memory has the hole; the element of row 0 is in the third row of it.
    await grid(page).focus();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await drawn(page);
    assert.match(await said(page), /element \(0, 5\): offset 21/);
    assert.equal((await counts(page, 1)).cells, 32);
    assert.match(await page.locator(".facts").textContent(), /What the tables store, in other notations.*f16\[4,8\]/);
    assert.equal(await page.locator("button:visible", { hasText: "SVG" }).count(), 0);
    await page.screenshot({ path: `${SCREENSHOTS}/table.png` });
  });
  // A table that is digits is a layout like any other.
  await visit("#layout?spec=f16[4,8]+table(0;+0,2,1,3)+row-major", async (page) => {
    await page.getByText("((2,2),8):((16,8),1)").first().waitFor();
    assert.ok((await page.locator("button:visible", { hasText: "SVG" }).count()) > 0);
  });
  await visit(`#convert?a=row-major&b=${encodeURIComponent(TABLED)}`, async (page) => {
    await page.getByText("The first element that moves is (0,0): from offset 0 to 16.").waitFor();
    await page.locator("pre").waitFor();
    assert.deepEqual(await page.locator(".grid").evaluateAll((grids) => grids.map((grid) => grid.drawn.cells)), [24, 24, 32, 32]);
  });
});

const FAILURES = {
  "its script fails": (context) => stopped(context, /late-.*\.js/),
  "its WebAssembly fails": (context) => stopped(context, /late-.*\.wasm/),
  "there is no network": async (context) => {
    await context.setOffline(true);
    return () => context.setOffline(false);
  },
};

/** Stops requests for a file; returns what lets them pass again and tells the page that there is a network. */
async function stopped(context, file) {
  await context.route(file, (route) => route.abort());
  return async (page) => {
    await context.unroute(file);
    await page.evaluate(() => dispatchEvent(new Event("online")));
  };
}

for (const [failure, fail] of Object.entries(FAILURES)) {
  test(`the page says so when ${failure}, and loads the late module when there is a network again`, async () => {
    const context = await browser.newContext({ serviceWorkers: "block" });
    const { page } = await open(context, `${server.address}#layout`);
    const mend = await fail(context);
    await page.locator("input").first().fill(TABLED);
    const failed = page.getByText(/did not load \(.*\)\. Connect to the network and reload the page\./);
    await failed.waitFor();
    // Everything else goes on.
    await page.locator("input").first().fill("f16[32,32] zN");
    await drawn(page);
    assert.ok((await counts(page)).cells > 100);
    await page.locator("nav a[data-part=gallery]").click();
    await failed.waitFor();
    assert.ok((await page.locator(".card").count()) > 100);
    await mend(page);
    await page.locator("nav a[data-part=layout]").click();
    await page.locator("input").first().fill(TABLED);
    await page.getByText("4 places, 1 of them a hole").waitFor();
    await context.close();
  });
}

test("an address restores what was shown", async () => {
  await visit("#layout", async (page, context) => {
    await page.locator("input").nth(0).fill("zN[M0=2,C0=2]");
    await page.locator("input").nth(1).fill("5,7");
    await page.getByLabel("What colours mean").selectOption("tile");
    await page.getByLabel("What stands in the cells").selectOption("coordinate");
    await grid(page).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => location.hash.includes("at=1,1"));
    const shown = async (page) => [await page.locator("input").evaluateAll((inputs) => inputs.map((input) => input.value)), await page.title(), await said(page), await counts(page).then(({ cells }) => cells)];
    const again = await open(context, await page.evaluate(() => location.href));
    await drawn(again.page);
    assert.deepEqual(await shown(again.page), await shown(page));
    assert.deepEqual(again.faults, []);
    assert.equal(await again.page.getByLabel("What colours mean").inputValue(), "tile");
    await page.locator("nav a[data-part=convert]").click();
    await page.goBack();
    assert.equal(await page.locator("input").first().inputValue(), "zN[M0=2,C0=2]");
  });
  await visit("#algebra?op=raked_product&a=(2,2):(2,1)&b=(3,4):(4,1)", async (page) => {
    assert.match(await page.locator(".answer").textContent(), /raked_product\(\(2,2\):\(2,1\), \(3,4\):\(4,1\)\) = /);
  });
  await visit("#algebra?op=expression&a=size((4,8):(8,1))", async (page) => {
    assert.match(await page.locator(".answer").textContent(), /= 32/);
    await page.getByLabel("Expression").fill("(4,8):(8,1) o <2,4");
    assert.equal(await page.locator(".carets").first().textContent(), " ".repeat(18) + "^");
  });
  for (const strange of ["#", "#nothing?x", "#layout?spec=%E0%A4%A", "#layout?at=x&zoom=-3", "#convert?a=&b="]) {
    await visit(strange, async (page) => assert.ok(await page.locator("input").count()));
  }
});

test("banks are counted, and who holds what is drawn", async () => {
  const pictured = (picture) => picture.evaluate(async (image) => (await image.decode(), image.naturalWidth));
  await visit("#layout?spec=Sw%3C3,3,3%3E+o+(8,64):(64,1)&dtype=f16&colour=bank&vector=8", async (page) => {
    const banks = page.getByRole("region", { name: "Banks of shared memory" });
    await banks.getByText("conflicts 8 → 1").first().waitFor();
    assert.ok((await pictured(banks.locator("img"))) > 300);
    assert.match(await banks.locator("img").getAttribute("alt"), /conflicts 8 → 1/);
    await page.screenshot({ path: `${SCREENSHOTS}/banks.png`, fullPage: true });
    await page.getByLabel("How many elements a thread reads at once").selectOption("2");
    await banks.getByText(/32 threads of a warp are served at once/).waitFor();
    await page.waitForFunction(() => location.hash.includes("vector=2"));
    await page.locator("input").first().fill("(8,8,8):(64,8,1)");
    await banks.getByText("Not counted: an array of 3 dims").waitFor();
    await page.getByLabel("What colours mean").selectOption("order");
    assert.equal(await banks.count(), 0);
  });
  await visit("#layout?spec=%23ttg.blocked<{sizePerThread=[1,2],threadsPerWarp=[8,4],warpsPerCTA=[2,1],order=[1,0]}>&dims=16,8&dtype=f16", async (page) => {
    const holders = page.getByRole("region", { name: "Who holds each element" });
    await holders.waitFor();
    assert.ok((await pictured(holders.locator("img"))) > 200);
    assert.match(await holders.locator(".words").textContent(), /lane32.*warp2.*each element once/);
    await page.locator("input").first().fill("row-major");
    await holders.waitFor({ state: "hidden" });
    await page.locator("input").first().fill("(2,3):(1@0,1@1)");
    await page.getByRole("region", { name: "Where each cell is sent" }).locator("img").waitFor();
    assert.equal(await page.locator(".wrong").count(), 0);
    assert.equal(await page.locator(".columns").isVisible(), false);
    // An array in shards is no layout either, and a mistake in its text is shown where it is.
    await page.locator("input").first().fill("bf16[96,64] @ mesh(dp=2,tp=4) [Replicate(), Shard(0)]");
    await holders.getByText("each element on 2 devices: replicated along dp").waitFor();
    assert.ok((await pictured(holders.locator("img"))) > 200);
    assert.equal(await page.locator(".wrong").count(), 0);
    await page.locator("input").first().fill("bf16[96,64] @ mesh(dp=2,tp=4) [Replicate(), Shord(0)]");
    await page.getByRole("button", { name: "Write Shard" }).waitFor();
    await page.locator("input").first().fill("row-major");
    await page.locator(".columns").waitFor();
  });
  await visit("#algebra?op=expression&a=make_identity_layout((2,3))", async (page) => {
    await page.locator("img.drawn").waitFor();
    assert.ok((await pictured(page.locator("img.drawn"))) > 100);
  });
});

test("the plan of a conversion is told", async () => {
  await visit("#convert?a=row-major&b=zN&dims=32,48&dtype=f16", async (page) => {
    const plan = page.getByRole("region", { name: "How the bytes move" });
    await plan.getByText(/\[32, 48\]: 16 bits, 3072 bytes to 3072 bytes/).waitFor();
    await page.locator("input").nth(1).fill("(32,48):(0,1)");
    await plan.getByText("They cannot be moved").waitFor();
  });
  // Nothing of another address is left under one that is wrong.
  await visit("#convert", async (page) => {
    await page.evaluate(() => (location.hash = "#convert?a=f16[20,40] row-major&b=f16[2,2] row-major"));
    await page.locator(".wrong").first().waitFor();
    assert.equal(await page.locator(".part .picture").first().isVisible(), false);
  });
});

test("offsets are exact, also where numbers are not", async () => {
  await visit("#layout?spec=(2,2):(9007199254740993,1)", async (page) => {
    await grid(page).focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await said(page), /^element \(1, 0\): offset 9007199254740993$/);
  });
});

test("each part keeps what was typed while another is shown", async () => {
  await visit("#layout", async (page) => {
    await page.locator("input").first().fill("f16[32,32] zN");
    const [spec, from] = [page.getByLabel("Layout, in any notation"), page.getByLabel("From", { exact: true })];
    await page.locator("nav a[data-part=convert]").click();
    await from.fill("col-major");
    await page.locator("nav a[data-part=layout]").click();
    await spec.waitFor();
    assert.equal(await spec.inputValue(), "f16[32,32] zN");
    await page.locator("nav a[data-part=convert]").click();
    await from.waitFor();
    assert.equal(await from.inputValue(), "col-major");
  });
});

test("memory with little in it says so, and the grid leads there", async () => {
  await visit("#layout?spec=(3,3):(1000000000,1)", async (page) => {
    assert.match(await said(page, 1), /Mostly padding/);
    await grid(page).focus();
    await page.keyboard.press("Control+End");
    await drawn(page);
    assert.match(await said(page), /element \(2, 2\): offset 2000000002/);
    assert.ok(await grid(page, 1).evaluate((element) => element.scrollTop > 1_000_000));
  });
});

test("titles of panels stand apart", async () => {
  await visit("#layout?spec=(2,2,2,2,2,2,2,2):(1,2,4,8,16,32,64,128)", async (page) => {
    const widths = await grid(page).evaluate((element) => element.querySelector(".sizer").offsetWidth);
    // Two panels side by side, each at least as wide as its title of 26 characters.
    assert.ok(widths > 2 * 26 * 7, `${widths}`);
  });
});

test("a picture that went away is not drawn again", async () => {
  await visit("#algebra", async (page) => {
    await page.evaluate(async () => {
      const [a, b] = document.querySelectorAll("input");
      for (let round = 0; round < 20; round++) {
        for (const text of ["<3,4>", "24", "(2,2):(1,2)"]) {
          document.querySelectorAll(".grid").forEach((grid) => grid.dispatchEvent(new PointerEvent("pointermove", { clientX: 100 + round, clientY: 400, bubbles: true })));
          b.value = text;
          b.dispatchEvent(new InputEvent("input", { bubbles: true }));
          a.value = round % 2 ? "size(4:1)" : "(6,8):(8,1)";
          a.dispatchEvent(new InputEvent("input", { bubbles: true }));
          await new Promise((done) => requestAnimationFrame(done));
        }
      }
    });
  });
});

test("an error is shown where it is, and its likely spelling can be chosen", async () => {
  await visit("#layout", async (page) => {
    const input = page.locator("input").first();
    await input.fill("row-mayor");
    assert.equal(await input.getAttribute("aria-invalid"), "true");
    assert.equal(await page.locator(".carets").first().textContent(), "^^^^^^^^^");
    const note = page.locator(`#${await input.getAttribute("aria-describedby")}`);
    assert.match(await note.textContent(), /did you mean/);
    await page.screenshot({ path: `${SCREENSHOTS}/error.png` });
    await page.locator(".spelling").first().click();
    assert.equal(await input.inputValue(), "row-major");
    assert.equal(await input.getAttribute("aria-invalid"), null);
    // A general layout is shown for dims that are assumed, and says so.
    assert.match(await page.locator(".note").nth(1).textContent(), /assumed/);
    await input.fill("(2,3):(1,é)");
    assert.equal(await page.locator(".carets").first().textContent(), " ".repeat(9) + "^");
  });
});

test("everything can be reached and heard with a keyboard", async () => {
  await visit("#layout", async (page) => {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.locator("#skip").focus();
    const names = new Set();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      names.add(await page.evaluate(() => {
        const { activeElement: element } = document;
        return element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
      }));
    }
    for (const name of ["Gallery", "Layout, in any notation", "Grid", "Memory", "Smaller", "Larger", "Fit to view", "Theme"]) assert.ok(names.has(name), `${name} is not among ${[...names]}`);
    await grid(page).focus();
    for (const key of ["ArrowRight", "ArrowDown", "End"]) await page.keyboard.press(key);
    const heard = () => page.evaluate(() => document.getElementById(document.querySelector(".grid").getAttribute("aria-activedescendant")).textContent);
    assert.equal(await heard(), "element (1, 11): offset 71");
    assert.equal(await said(page), "element (1, 11): offset 71 = 1·4 + 3·1 + 2·32");
    assert.equal(await page.locator("#live").textContent(), "element (1, 11): offset 71");
    assert.equal(await grid(page).getAttribute("aria-rowcount"), "8");
    await page.keyboard.press("Escape");
    assert.equal(await grid(page).getAttribute("aria-activedescendant"), null);
    // Nothing without a name.
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, select, input, a")].filter((element) => !(element.textContent.trim() || element.getAttribute("aria-label") || element.labels?.length)).length);
    assert.equal(nameless, 0);
  });
});

test("cells that belong together are marked together", async () => {
  await visit("#convert", async (page) => {
    await grid(page, 0).focus();
    for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    assert.deepEqual([await said(page, 0), await said(page, 1)], ["element (1, 5): offset 17", "element (1, 5): offset 37"]);
    await drawn(page);
    await page.screenshot({ path: `${SCREENSHOTS}/convert.png`, fullPage: true });
    await grid(page, 3).focus();
    assert.match(await said(page, 3), /offset 0: element \(0, 0\)/);
    assert.equal(await said(page, 0), "element (0, 0): offset 0");
  });
  await visit("#algebra", async (page) => {
    await grid(page, 2).focus();
    for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    assert.deepEqual([await said(page, 2), await said(page, 0), await said(page, 1)], ["element (1, 1): offset 32", "element (4, 0): offset 32", "element (1, 0): offset 1"]);
    await drawn(page);
    await page.screenshot({ path: `${SCREENSHOTS}/algebra.png` });
  });
});

test("dark and light, as the system has it or as chosen", async () => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const papers = [];
  for (const colorScheme of ["light", "dark"]) {
    await visit("#layout?spec=f32[6,10]{1,0:T(4,4)}", async (page) => {
      papers.push(await paper(page));
      await grid(page).focus();
      await drawn(page);
      await page.screenshot({ path: `${SCREENSHOTS}/${colorScheme}.png` });
      assert.ok((await contrast(page)) >= 4.5, `${colorScheme}: ${await contrast(page)}`);
      await page.getByLabel("Theme").selectOption(colorScheme === "light" ? "dark" : "light");
      assert.notEqual(await paper(page), papers.at(-1));
      await page.reload();
      await page.waitForSelector("html[data-ready]");
      assert.notEqual(await paper(page), papers.at(-1));
    }, { colorScheme });
  }
  assert.notEqual(papers[0], papers[1]);
});

/** The least contrast of a text of the page with what is behind it. */
function contrast(page) {
  return page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    const rgb = (name) => style.getPropertyValue(name).match(/[0-9a-f]{2}/gi).map((part) => Number.parseInt(part, 16));
    const part = (x) => ((x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const luminance = (name) => rgb(name).reduce((all, x, i) => all + part(x) * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const pairs = ["--text", "--soft", "--faint", "--accent", "--wrong"].flatMap((text) => ["--paper", "--card"].map((back) => [text, back]));
    pairs.push(["--padding-text", "--padding-paper"], ["--accent", "--accent-wash"], ["--wrong", "--wrong-wash"]);
    return Math.min(...pairs.map(([text, back]) => ratio(luminance(text), luminance(back))));
  });
}

test("pictures are saved as SVG", async () => {
  await visit("#layout", async (page) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByLabel("Save the grid as SVG").click()]);
    assert.equal(download.suggestedFilename(), "layout.svg");
  });
});
