// Keeps the page's files, so that it opens without a network. A new version has another name, and comes with the
// next visit. The late module is kept from its first use on, also by new versions that have the same one.

const worker = self as unknown as {
  addEventListener(name: string, listener: (event: WorkerEvent) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
};

interface WorkerEvent extends Event {
  request: Request;
  respondWith(response: Promise<Response>): void;
  waitUntil(done: Promise<unknown>): void;
}

declare const VERSION: string;
declare const LATE: string;

const FILES = ["./", "index.html", "page.css", "page.js", "tilewright.wasm", "icon.svg"];

worker.addEventListener("install", (event) => {
  // Past the browser's own cache, which may still hold files of the version before.
  const files = FILES.map((file) => new Request(file, { cache: "reload" }));
  const keep = caches.open(VERSION).then((cache) => cache.addAll(files));
  event.waitUntil(keep.then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(replaced().then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  const kept = caches.match(event.request, { ignoreSearch: true, cacheName: VERSION });
  event.respondWith(kept.then((kept) => kept ?? fetched(event.request)));
});

/** Deletes the files of other versions; takes over the late module if it is the same. Other pages of the site have other caches. */
async function replaced(): Promise<void> {
  const own = VERSION.slice(0, VERSION.lastIndexOf("-") + 1);
  for (const name of (await caches.keys()).filter((name) => name.startsWith(own) && name !== VERSION)) {
    const old = await caches.open(name);
    for (const request of (await old.keys()).filter(isLate)) await keep(request, (await old.match(request))!);
    await caches.delete(name);
  }
}

async function fetched(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (response.ok && isLate(request)) await keep(request, response.clone());
  return response;
}

function isLate({ url }: Request): boolean {
  return url.includes(`/${LATE}.`);
}

/** Adds a file to those of this version, if the browser has room for it. */
async function keep(request: Request, response: Response): Promise<void> {
  const cache = await caches.open(VERSION);
  await cache.put(request, response).catch(() => undefined);
}
