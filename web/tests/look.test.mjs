// How the page looks: what is counted here is room, colours, and what can be read.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { drawn, session, settled } from "./browser.mjs";
import { SCREENS, VIEWS } from "./views.mjs";

let visit, stop;
before(async () => ({ visit, stop } = await session()));
after(async () => await stop?.());

const grid = (page, i = 0) => page.locator(".grid").nth(i);
const counts = (page, i = 0) => grid(page, i).evaluate((element) => ({ ...element.drawn }));
/** Whether all of a grid is in view, without a scroll bar. */
const whole = (page, i = 0) => grid(page, i).evaluate((one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight);

test("no part is wider than its screen", async () => {
  for (const viewport of SCREENS) {
    await visit("#layout", async (page) => {
      for (const [name, hash] of VIEWS) {
        await page.evaluate((hash) => (location.hash = hash), hash);
        await settled(page);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(over <= 0, `${name} at ${viewport.width}: ${over} pixels too wide`);
      }
    }, { viewport });
  }
});

test("the first screen says what this is, and its examples fill the fields", async () => {
  await visit("#layout", async (page) => {
    assert.match(await page.locator(".intro p").textContent(), /where each element of a tensor lies in memory/);
    const chips = page.locator(".intro .chip");
    const texts = new Set();
    for (let i = 0; i < (await chips.count()); i++) {
      await chips.nth(i).click();
      // Of a map that is no layout of an array, the picture comes once typing pauses; a table needs the late module.
      await page.waitForFunction(() => !document.querySelector(".wrong, .stale"));
      texts.add(await page.locator("input").first().inputValue());
    }
    assert.ok(texts.size >= 6, [...texts].join());
  });
  for (const [part, least] of [["convert", 3], ["algebra", 3]]) {
    await visit(`#${part}`, async (page) => assert.ok((await page.locator(".intro .chip").count()) >= least));
  }
});

test("the picture uses the room, and nothing stands empty above it", async () => {
  for (const viewport of SCREENS) {
    await visit("#layout", async (page) => {
      assert.ok(await whole(page), `${viewport.width}`);
      assert.equal((await counts(page)).labels, 96);
      const [fields, pane] = [await page.locator("form.ask").boundingBox(), await page.locator(".pane").first().boundingBox()];
      assert.ok(pane.y - fields.y - fields.height < 24, `${pane.y - fields.y - fields.height} pixels between fields and picture`);
    }, { viewport });
  }
});

test("what is large opens as an overview of its tiles, and a double click leads to cells", async () => {
  await visit("#layout?spec=[1024,1024] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0", async (page) => {
    assert.ok(await whole(page));
    assert.equal(await page.getByLabel("What colours mean").inputValue(), "tile");
    await grid(page).dblclick();
    await drawn(page);
    assert.ok((await counts(page)).labels > 100);
    await page.getByLabel("Fit to view").first().click();
    await drawn(page);
    assert.ok(await whole(page));
  });
});

test("tiles have colours where there are tiles; a choice stays", async () => {
  await visit("#layout", async (page) => {
    const colour = page.getByLabel("What colours mean");
    assert.equal(await colour.inputValue(), "tile");
    await page.locator("input").first().fill("[6,8] row-major");
    assert.equal(await colour.inputValue(), "order");
    await colour.selectOption("none");
    await page.locator("input").first().fill("f16[48,64] zN");
    assert.equal(await colour.inputValue(), "none");
  });
});

test("banks have numbers, and their panel is in view", async () => {
  await visit("#layout?spec=Sw<3,3,3>+o+(8,64):(64,1)&dtype=f16&colour=bank&vector=8", async (page) => {
    await page.locator(".banks i").first().waitFor();
    await drawn(page);
    assert.equal((await counts(page)).labels, 512);
    assert.equal(await page.locator(".banks i").count(), 32);
    assert.equal(new Set(await page.locator(".banks i").evaluateAll((all) => all.map((one) => one.style.background))).size, 32);
    const panel = await page.getByRole("region", { name: "Banks of shared memory" }).boundingBox();
    assert.ok(panel.y < 600, `${panel.y}`);
  });
});

/** The colours of a grid that fill more than a fiftieth of it. */
const colours = (page, i) => grid(page, i).evaluate((element) => {
  const canvas = element.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (const pixel of new Uint32Array(data.buffer)) if (pixel !== 0) seen.set(pixel, (seen.get(pixel) ?? 0) + 1);
  return [...seen.values()].filter((count) => count > (canvas.width * canvas.height) / 50).length;
});

test("a division shows the tiles of A", async () => {
  await visit("#algebra?op=zipped_divide&a=(6,8):(8,1)&b=<3,4>", async (page) => {
    assert.deepEqual([await colours(page, 0), await colours(page, 2)], [4, 4]);
    assert.match(await page.locator(".about").textContent(), /Each tile or copy of A has a colour and a border/);
    await page.getByLabel("Operation").selectOption("coalesce");
    await drawn(page);
    assert.doesNotMatch(await page.locator(".about").textContent(), /Each tile/);
  });
});

test("words of the field are explained on hover and on focus", async () => {
  await visit("#layout?spec=f32[6,10]{1,0:T(4,4)}", async (page) => {
    for (const word of ["padding", "tiles"]) {
      const term = page.locator(".legend .term").filter({ has: page.getByRole("button", { name: word }) });
      const tip = term.locator(".tip");
      assert.equal(await tip.isVisible(), false);
      await term.hover();
      assert.equal(await tip.isVisible(), true);
      await page.mouse.move(0, 0);
      await term.locator("button").focus();
      assert.equal(await tip.isVisible(), true);
      await page.keyboard.press("Escape");
      assert.equal(await tip.isVisible(), false);
    }
  });
  await visit("#layout?spec=Sw<3,3,3>+o+(8,64):(64,1)&dtype=f16", async (page) => {
    const term = page.locator(".legend .term").filter({ has: page.getByRole("button", { name: "swizzle" }) });
    await term.hover();
    await term.getByText("exclusive or").waitFor();
  }, { viewport: { width: 390, height: 844 } });
});

test("the gallery goes by maker, and every card can be read", async () => {
  for (const viewport of SCREENS) {
    await visit("#gallery", async (page) => {
      assert.ok((await page.locator(".gallery section").count()) > 8);
      const cut = await page.locator(".card > *").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0).map((one) => one.textContent));
      assert.deepEqual(cut, []);
      await page.getByLabel("Search the gallery").fill("tenstorrent");
      assert.ok((await page.locator(".card:visible").count()) >= 3);
      await page.getByLabel("Search the gallery").fill("nothing has these words");
      await page.getByText("Nothing here has all of these words.").waitFor();
    }, { viewport });
  }
});
