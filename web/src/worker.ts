// Keeps the page's files, so that it opens without a net. A new version has another name, and comes with the
// next visit. What is loaded when it is first needed is kept from then on.

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
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => name !== VERSION).map((name) => caches.delete(name))));
  event.waitUntil(old.then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  event.respondWith(caches.match(event.request, { ignoreSearch: true }).then((kept) => kept ?? fetched(event.request)));
});

async function fetched(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (response.ok && request.url.includes(`/${LATE}.`)) await (await caches.open(VERSION)).put(request, response.clone());
  return response;
}
