// Debian's Chromium and what it says of a page: thread time, nodes, heap, times of paints and of rows.
import { existsSync } from "node:fs";
import { importOfTests } from "../test-packages.mjs";

const { chromium } = await importOfTests("playwright-core");

const PATH = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));

export function launch() {
  if (PATH === undefined) throw new Error("no chromium here: apt-get install chromium");
  return chromium.launch({ executablePath: PATH, args: ["--no-sandbox", "--disable-dev-shm-usage", "--js-flags=--expose-gc"] });
}

/** Notes when a row first stands in the page, long tasks, and how late keys are taken. */
function noteTimes() {
  window.bench = { rowMs: 0, longest: 0, delays: [] };
  const look = () => {
    if (window.bench.rowMs === 0 && document.querySelector("[data-row]") !== null) window.bench.rowMs = performance.now();
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.bench.longest = Math.max(window.bench.longest, duration);
  }).observe({ type: "longtask", buffered: true });
  addEventListener("keydown", (event) => window.bench.delays.push(performance.now() - event.timeStamp), { capture: true });
}

/** A page of its own context. */
export async function openPage(browser, address, { slowdown = 1 } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(noteTimes);
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await session.send("Network.enable");
  let bytes = 0;
  const sizes = new Map();
  session.on("Network.responseReceived", ({ requestId, response }) => sizes.set(requestId, response.url));
  const perUrl = [];
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    bytes += encodedDataLength;
    perUrl.push([sizes.get(requestId) ?? "", encodedDataLength]);
  });
  if (slowdown > 1) await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await page.goto(address);
  return { page, session, perUrl, bytes: () => bytes, close: () => context.close() };
}

/** By name: TaskDuration in seconds, Nodes, JSHeapUsedSize in bytes. */
export async function metricsOf({ session }) {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

export async function heapOf({ page, session }) {
  await session.send("HeapProfiler.collectGarbage");
  await page.waitForTimeout(200);
  return (await metricsOf({ session })).JSHeapUsedSize;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
