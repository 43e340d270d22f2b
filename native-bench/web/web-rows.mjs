// The rows of `make web-bench`: each gives figures with the bar that they are held against.
import { createServer, request } from "node:http";
import { networkInterfaces } from "node:os";
import { heapOf, median, metricsOf, openPage, quantile } from "./web-browser.mjs";
import { cpuSeconds, get, importWeek, nameOf, sendSpikes, sendUsual, startServer, untilAnomalies } from "./web-server.mjs";

/** A past in which one value far from it is an anomaly at once. */
const USUAL_SAMPLES = 40;
const settle = (page) => page.waitForTimeout(1_000);
const figure = (what, value, unit, bar, goal) => ({ what, value, unit, bar, goal });

/** 1,000 anomalies on the feed. */
export async function feed({ browser, repeats }) {
  const server = await startServer();
  try {
    await sendUsual(server, 1_000, 40);
    await sendSpikes(
      server,
      Array.from({ length: 1_000 }, (_, at) => at),
    );
    await untilAnomalies(server, 1_000);
    const runs = [];
    for (let run = 0; run < repeats; run++) {
      const slow = await openPage(browser, `${server.origin}/#/anomalies`, { slowdown: 4 });
      await slow.page.locator("[data-row]").first().waitFor();
      const times = await slow.page.evaluate(() => {
        const paint = performance.getEntriesByName("first-contentful-paint")[0];
        return { fcp: paint?.startTime ?? 0, row: window.bench.rowMs };
      });
      await slow.close();
      const fast = await openPage(browser, `${server.origin}/#/anomalies`);
      await fast.page.locator("[data-row]").first().waitFor();
      await settle(fast.page);
      const { TaskDuration } = await metricsOf(fast);
      const nodes = await fast.page.evaluate(() => document.getElementsByTagName("*").length);
      runs.push({ ...times, cpu: TaskDuration * 1000, nodes });
      await fast.close();
    }
    const of = (name) => median(runs.map((run) => run[name]));
    return [
      figure("1,000 anomalies, first paint at 4x slowdown", of("fcp"), "ms", 1000, 600),
      figure("1,000 anomalies, first row at 4x slowdown", of("row"), "ms", 2000, 1200),
      figure("1,000 anomalies, thread time of the page", of("cpu"), "ms", 400, 200),
      figure("1,000 anomalies, nodes", of("nodes"), "", 2500, 1500),
    ];
  } finally {
    await server.close();
  }
}

/** 10,000 services: first rows, search, scroll. */
export async function services({ browser, repeats }) {
  const server = await startServer();
  try {
    await sendUsual(server, 10_000, 1);
    const runs = [];
    const searches = [];
    for (let run = 0; run < repeats; run++) {
      const opened = await openPage(browser, `${server.origin}/#/services`);
      const { page } = opened;
      await page.locator("[data-row]").first().waitFor();
      const row = await page.evaluate(() => window.bench.rowMs);
      for (let at = 0; at < 10; at++) searches.push(await searchMs(page, nameOf(run * 1_000 + at * 37)));
      await page.goto(`${server.origin}/#/services`);
      await page.locator("[data-row]").first().waitFor();
      await page.evaluate(() => {
        window.bench.longest = 0;
      });
      for (let step = 0; step < 60; step++) {
        await page.mouse.wheel(0, 2_500);
        await page.waitForTimeout(50);
      }
      const scrolled = await page.evaluate(() => ({ longest: window.bench.longest, nodes: document.getElementsByTagName("*").length }));
      runs.push({ row, ...scrolled });
      await opened.close();
    }
    const of = (name) => median(runs.map((run) => run[name]));
    return [
      figure("10,000 services, first rows", of("row"), "ms", 1000, 500),
      figure("10,000 services, search, p99 of the server's answer", quantile(searches, 0.99), "ms", 100, 30),
      figure("10,000 services, longest task in a scroll", of("longest"), "ms", 100, 50),
      figure("10,000 services, nodes behind the scroll", of("nodes"), "", null, null),
    ];
  } finally {
    await server.close();
  }
}

/** From the page's own address: what a search waits for the server. */
function searchMs(page, name) {
  return page.evaluate(async (q) => {
    const startMs = performance.now();
    const answer = await fetch(`api/v1/services?q=${q}&limit=60&sort=worst`);
    const { services } = await answer.json();
    if (services.length !== 1) throw new Error(`${q} is found ${services.length} times`);
    return performance.now() - startMs;
  }, name);
}

/** Seven days of raw values in a chart. */
export async function week({ browser, repeats }) {
  const server = await startServer({ RETENTION_RAW_DAYS: "9" });
  try {
    await importWeek(server);
    const runs = [];
    for (let run = 0; run < repeats; run++) {
      const opened = await openPage(browser, `${server.origin}/#/services`);
      await settle(opened.page);
      const before = (await metricsOf(opened)).TaskDuration;
      const startMs = Date.now();
      await opened.page.goto(`${server.origin}/#/service/week?range=7d&metric=requests`);
      await opened.page.locator(".chart canvas").first().waitFor();
      const drawn = Date.now() - startMs;
      await settle(opened.page);
      const cpu = ((await metricsOf(opened)).TaskDuration - before) * 1000;
      const wire = opened.perUrl.filter(([url]) => url.includes("/series/data")).reduce((sum, [, bytes]) => sum + bytes, 0);
      runs.push({ drawn, cpu, wire: wire / 1000 });
      await opened.close();
    }
    const since = new Date(Date.now() - 7.1 * 86_400_000).toISOString();
    const { points } = await get(server, `/api/v1/series/data?service_id=week&metric_name=requests&points=400&since=${since}`);
    const values = points.map(({ value }) => value);
    const of = (name) => median(runs.map((run) => run[name]));
    return [
      figure("7 days raw, on the wire", of("wire"), "kB", 60, 30),
      figure("7 days raw, from click to drawn", of("drawn"), "ms", 1000, 500),
      figure("7 days raw, thread time of the page", of("cpu"), "ms", 150, 80),
      figure("7 days raw, extremes that are missing", 2 - Number(values.includes(777)) - Number(values.includes(3)), "", 0, 0),
    ];
  } finally {
    await server.close();
  }
}

/** Notes when the page first shows so many anomalies: one as a row where none stood, the others as "n new" above it. */
function noteShown() {
  window.bench.shownMs = [];
  new MutationObserver(() => {
    const [, fresh = "0"] = /(\d+) new/.exec(document.querySelector(".fresh")?.textContent ?? "") ?? [];
    const shown = Number(fresh) + (document.querySelector("[data-row]") === null ? 0 : 1);
    while (window.bench.shownMs.length < shown) window.bench.shownMs.push(performance.timeOrigin + performance.now());
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
}

/** From the bytes sent to the row on screen. */
export async function latency({ browser }) {
  const server = await startServer();
  try {
    const opened = await openPage(browser, `${server.origin}/#/anomalies`);
    const { page } = opened;
    await page.locator(".live.live").waitFor();
    await page.evaluate(noteShown);
    const waits = [];
    for (let at = 0; at < 50; at++) {
      // Up to now: behind a gap of seconds one value is not enough.
      await sendUsual(server, 1, USUAL_SAMPLES, Date.now(), at);
      await page.waitForTimeout(150);
      const sentMs = Date.now();
      await sendSpikes(server, [at]);
      await page.waitForFunction((index) => window.bench.shownMs.length > index, at, { polling: 5, timeout: 10_000 });
      waits.push((await page.evaluate((index) => window.bench.shownMs[index], at)) - sentMs);
    }
    await opened.close();
    return [
      figure("bytes sent to row on screen, p99 of 50", quantile(waits, 0.99), "ms", 500, 200),
      figure("bytes sent to row on screen, median", median(waits), "ms", null, null),
    ];
  } finally {
    await server.close();
  }
}

/** A server before the server, whose event stream plays 10,000 anomalies a minute. */
async function playedStream(server, anomaly) {
  const timers = new Set();
  let played = 0;
  const front = createServer((incoming, outgoing) => {
    if (incoming.url.startsWith("/api/v1/stream")) {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => {
        for (let at = 0; at < 17; at++) {
          const now = new Date().toISOString();
          const one = {
            ...anomaly,
            anomaly_id: String(++played).padStart(32, "0"),
            service_id: nameOf(played % 10_000),
            alert_id: null,
            detected_at: now,
          };
          outgoing.write(`event: anomaly\nid: ${Date.now()}-${at}\ndata: ${JSON.stringify(one)}\n\n`);
        }
      }, 102);
      timers.add(timer);
      outgoing.on("close", () => clearInterval(timer));
      return;
    }
    const { host, ...headers } = incoming.headers;
    const onward = request(`${server.origin}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise((resolve) => front.listen(0, "127.0.0.1", resolve));
  const close = () => {
    for (const timer of timers) clearInterval(timer);
    front.closeAllConnections();
    front.close();
  };
  return { origin: `http://127.0.0.1:${front.address().port}`, played: () => played, close };
}

/** Heap and keys while 10,000 anomalies a minute come. */
export async function flood({ browser, minutes }) {
  const server = await startServer();
  try {
    await sendUsual(server, 1, 40);
    await sendSpikes(server, [0]);
    await untilAnomalies(server, 1);
    const [anomaly] = (await get(server, "/api/v1/anomalies")).anomalies;
    const front = await playedStream(server, anomaly);
    const opened = await openPage(browser, `${front.origin}/#/anomalies`);
    const { page } = opened;
    await page.locator(".live.live").waitFor();
    await page.waitForTimeout(10_000);
    const before = await heapOf(opened);
    const endMs = Date.now() + minutes * 60_000;
    while (Date.now() < endMs) {
      await page.keyboard.press("j");
      await page.waitForTimeout(250);
    }
    const growth = (await heapOf(opened)) - before;
    const delays = await page.evaluate(() => window.bench.delays);
    await opened.close();
    front.close();
    return [
      figure(`10,000 anomalies a minute for ${minutes} min, growth of the heap`, growth / 1e6, "MB", 20, 5),
      figure("10,000 anomalies a minute, delay of keys, p99", quantile(delays, 0.99), "ms", 200, 100),
      figure("10,000 anomalies a minute, anomalies played", front.played(), "", null, null),
    ];
  } finally {
    await server.close();
  }
}

const VIEW_SECONDS = 20;

/** What 20 viewers cost the server at ten events a second. */
export async function viewers() {
  const turn = async (count) => {
    const server = await startServer();
    try {
      await sendUsual(server, 10 * VIEW_SECONDS, 40);
      const ends = new AbortController();
      for (let at = 0; at < count; at++) {
        const { body } = await fetch(`${server.origin}/api/v1/stream`, { signal: ends.signal });
        void body.pipeTo(new WritableStream()).catch(() => undefined);
      }
      const before = cpuSeconds(server.pid);
      const startMs = Date.now();
      for (let at = 0; at < 10 * VIEW_SECONDS; at++) {
        await sendSpikes(server, [at]);
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, startMs + (at + 1) * 100 - Date.now())));
      }
      const cpu = cpuSeconds(server.pid) - before;
      const { detection } = await get(server, "/api/v1/status");
      ends.abort();
      return { cpu: (100 * cpu) / VIEW_SECONDS, p99: detection.p99_ms };
    } finally {
      await server.close();
    }
  };
  const pairs = [];
  for (let repeat = 0; repeat < 3; repeat++) pairs.push([await turn(0), await turn(20)]);
  const more = (name) => median(pairs.map(([without, beside]) => beside[name] - without[name]));
  return [
    figure("20 viewers, 10 events a second, CPU of the server above without", more("cpu"), "% of a core", 5, 2),
    figure("20 viewers, 10 events a second, detection p99 above without", more("p99"), "ms", 10, 5),
  ];
}

/** Ten tabs by the machine's own address. */
export async function tabs({ browser, repeats }) {
  const address = Object.values(networkInterfaces()).flat().find(({ family, internal }) => family === "IPv4" && !internal)?.address; // biome-ignore format: one row
  const server = await startServer({ HOST: address ?? "127.0.0.1" });
  try {
    const runs = [];
    for (let run = 0; run < repeats; run++) {
      const context = await browser.newContext();
      const authorization = `Bearer ${server.token}`;
      await context.request.post(`${server.origin}/sign-in`, { headers: { authorization } });
      const pages = await Promise.all(Array.from({ length: 10 }, () => context.newPage()));
      const startMs = Date.now();
      await Promise.all(
        pages.map(async (page) => {
          await page.goto(`${server.origin}/#/anomalies`);
          await page.locator("main h1").waitFor();
          await page.locator("main .empty-title, main [data-row]").first().waitFor();
        }),
      );
      runs.push(Date.now() - startMs);
      await context.close();
    }
    return [
      figure(`10 tabs, plain HTTP, by ${address === undefined ? "loopback" : "the machine's own address"}`, median(runs), "ms", 2000, 1000),
    ];
  } finally {
    await server.close();
  }
}

export const ROWS = { feed, services, week, latency, flood, viewers, tabs };
