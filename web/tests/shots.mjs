// Takes a picture of everything the page shows, on every screen, dark and light: `cargo xtask web --shots`.

import { mkdir } from "node:fs/promises";
import { launch, open, serve, settled } from "./browser.mjs";
import { SCREENS, VIEWS } from "./views.mjs";

const FOLDER = process.env["SCREENSHOTS"] ?? "screenshots";
/** The least and the most of the names, where only some are wanted. */
const wanted = process.argv.slice(2);
const screens = SCREENS.filter(({ width }) => !process.env["WIDTHS"] || process.env["WIDTHS"].split(",").includes(`${width}`));
const schemes = (process.env["SCHEMES"] ?? "light,dark").split(",");

await mkdir(FOLDER, { recursive: true });
const [server, browser] = [await serve(), await launch()];
const faults = [];
let count = 0;
for (const colorScheme of schemes) {
  for (const viewport of screens) {
    for (const [name, hash] of VIEWS) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const context = await browser.newContext({ viewport, colorScheme });
      const { page, faults: own } = await open(context, server.address + hash);
      await settled(page);
      await scrolled(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      const title = `${name}-${viewport.width}-${colorScheme}`;
      if (over > 0) faults.push(`${title}: ${over} pixels wider than the screen`);
      faults.push(...own.map((fault) => `${title}: ${fault}`));
      await page.screenshot({ path: `${FOLDER}/${title}.png`, fullPage: true });
      count += 1;
      await context.close();
    }
  }
}
await browser.close();
await server.stop();
console.log(`${count} screenshots in ${FOLDER}`);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Shows all of a page once: what is drawn when it comes into view is then drawn. */
async function scrolled(page) {
  await page.evaluate(async () => {
    for (let at = 0; at < document.documentElement.scrollHeight; at += innerHeight) {
      scrollTo(0, at);
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
    scrollTo(0, 0);
  });
  await settled(page);
}
