// A browser without a screen, and the page's files served to it.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const KINDS = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Serves the page on this machine: files only, compressed where the browser takes them so. `changed` has other texts for paths. */
export async function serve(changed = {}) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const packed = !(path in changed) && /\bbr\b/.test(request.headers["accept-encoding"] ?? "");
    try {
      const file = changed[path] ?? await readFile(join(DIST, path.endsWith("/") ? `${path}index.html` : path) + (packed ? ".br" : ""));
      const headers = { "content-type": KINDS[extname(path)] ?? KINDS[".html"], ...(packed ? { "content-encoding": "br" } : {}) };
      response.writeHead(200, headers).end(file);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const stop = () => new Promise((done) => {
    server.close(done);
    server.closeAllConnections();
  });
  return { address, stop };
}

/** The browser, without a word to anybody. */
export async function launch() {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A page at an address, ready; `faults` fills with whatever it complains about. */
export async function open(context, address) {
  const page = await context.newPage();
  // Other work may take the processors: slow is not wrong.
  page.setDefaultTimeout(120_000);
  const faults = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(`${message.text()} (${message.location().url})`));
  page.on("pageerror", (error) => faults.push(String(error)));
  // What the browser itself gave up when the page was left is no fault of the page.
  const given = (request) => request.failure()?.errorText === "net::ERR_ABORTED";
  page.on("requestfailed", (request) => given(request) || faults.push(`not loaded: ${request.url()}`));
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return { page, faults };
}

/** Waits until what was asked for has been drawn. */
export async function drawn(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}

/** Waits until nothing is drawn any more: what is asked for once typing pauses is there, and pictures are loaded. */
export async function settled(page) {
  await page.waitForTimeout(150);
  await page.waitForFunction(() => [...document.images].every((image) => image.complete));
  await drawn(page);
}

/** A server and a browser, and visits to pages of their own, each closed behind its test; none may complain. */
export async function session() {
  const [server, browser] = [await serve(), await launch()];
  const visit = async (hash, use, options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    try {
      const { page, faults } = await open(context, server.address + hash);
      await drawn(page);
      await use(page, context);
      assert.deepEqual(faults, []);
    } finally {
      await context.close();
    }
  };
  const stop = async () => {
    await browser.close();
    await server.stop();
  };
  return { server, browser, visit, stop };
}
