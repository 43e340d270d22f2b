// Journeys through the user interface in a real browser, each by mouse and by keys alone: what a person comes for is done at the server in the end.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { BROWSER_PATH, launchBrowser } from "../support/browser.ts";
import { type Hand, Keys, Mouse } from "../support/browser-hand.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

if (BROWSER_PATH === undefined)
  process.stderr.write("web-journeys.test.ts is skipped: chromium is not installed (apt-get install chromium)\n");

const JSON_TYPE = { "content-type": "application/json" };
const HANDS = ["mouse", "keys"] as const;
const SAMPLES = 40;
const METRIC = "request.duration_ms";

const bench = new ServerBench();
let server: ServerProcess;
let browser: Browser;
const pages: Page[] = [];

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${server.origin}${path}`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
  expect([path, response.status]).toEqual([path, 200]);
}

/** For each hand a service that fails, a disk, and records that cannot be taken. */
function telemetry(): unknown[] {
  const startMs = Date.now() - SAMPLES * 10_000;
  return HANDS.flatMap((hand) => [
    ...Array.from({ length: SAMPLES }, (_, at) => {
      const timestamp = new Date(startMs + at * 10_000).toISOString();
      const value = 100 + ((at * 7) % 5) + (at >= SAMPLES - 5 ? 400 : 0);
      return { service_id: `${hand}-shop`, metric_name: METRIC, value, timestamp };
    }),
    ...[1, 2, 3].map((value) => {
      const timestamp = new Date(Date.now() - value * 1000).toISOString();
      return { service_id: `${hand}-importer`, metric_name: "rows", value: String(value), timestamp };
    }),
  ]);
}

interface Found {
  readonly anomaly_id: string;
  readonly alert_id: string;
}

async function anomalyOf(service: string): Promise<Found> {
  const { anomalies } = await server.get<{ anomalies: Found[] }>("/api/v1/anomalies", { service_id: service, metric_name: METRIC });
  return anomalies[0] as Found;
}

describe.skipIf(BROWSER_PATH === undefined).each(HANDS)("by %s", (name) => {
  beforeAll(async () => {
    server = await bench.start({ ENGINES: "1", WATCHDOG_WARMUP_MINUTES: "0" });
    browser = await launchBrowser();
    await post("/api/v1/telemetry/batch", telemetry());
    const ofShop = async () => (await anomalyOf(`${name}-shop`))?.alert_id;
    await vi.waitFor(async () => expect(await ofShop()).toBeTruthy(), { timeout: PATIENCE_MS });
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close();
  });
  afterAll(async () => {
    await browser?.close();
    await bench.close();
  });

  /** A page with a hand on it; with `token` signed in. */
  async function open(
    hash: string,
    token?: string,
  ): Promise<{ page: Page; hand: Hand; button: (text: string) => ReturnType<Page["locator"]> }> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    if (token !== undefined) await context.request.post(`${server.origin}/sign-in`, { headers: { authorization: `Bearer ${token}` } });
    const page = await context.newPage();
    pages.push(page);
    await page.goto(`${server.origin}/${hash}`);
    await page.locator("main h1").waitFor();
    const hand = name === "mouse" ? new Mouse() : new Keys(page);
    return { page, hand, button: (text) => page.getByRole("button", { name: text, exact: true }) };
  }
  const field = (page: Page, label: string) => page.locator("label.field", { hasText: label }).locator("input, textarea, select").first();
  const adminToken = () => readFileSync(join(server.dataDir, "admin-token"), "utf8").trim();

  it("the first minute: an anomaly and its reason, one press from the first page", async () => {
    const { page, hand } = await open("");
    await hand.press(page.locator(".item-title", { hasText: `${name}-shop` }).last());
    await page.locator(".reason").waitFor();
    expect(await page.locator(".reason").textContent()).toContain(METRIC);
    expect([hand.presses, hand.texts]).toEqual([1, 0]);
  });

  it("the night shift: from a page's link to cause and impact in three presses at most, nothing typed; then it is taken", async () => {
    const { anomaly_id, alert_id } = await anomalyOf(`${name}-shop`);
    const reports = () => server.get<{ reports: unknown[] }>("/api/v1/rca/reports", { anomaly_id });
    await vi.waitFor(async () => expect((await reports()).reports.length).toBeGreaterThan(0), { timeout: PATIENCE_MS });
    const { page, hand, button } = await open(`#/alert/${alert_id}`);
    await hand.press(page.getByRole("link", { name: "Evidence and impact" }));
    await page.getByRole("heading", { name: "Impact" }).waitFor();
    await page.getByRole("heading", { name: /cause/i }).first().waitFor();
    expect(hand.presses).toBeLessThanOrEqual(3);
    expect(hand.texts).toBe(0);
    await page.goBack();
    await hand.press(button("Acknowledge"));
    const taken = async () => (await server.get<{ acknowledged_by: string | null }>(`/api/v1/alerts/${alert_id}`)).acknowledged_by;
    await vi.waitFor(async () => expect(await taken()).toBe("local"), { timeout: PATIENCE_MS });
  });

  it("feedback: a false alarm", async () => {
    const { anomaly_id } = await anomalyOf(`${name}-shop`);
    const { hand, button } = await open(`#/anomaly/${anomaly_id}`);
    await hand.press(button("False alarm"));
    const feedback = async () => (await server.get<{ feedback: string }>(`/api/v1/anomalies/${anomaly_id}`)).feedback;
    await vi.waitFor(async () => expect(await feedback()).toBe("false_positive"), { timeout: PATIENCE_MS });
  });

  it("a silence, with what it covers before it is made", async () => {
    const { anomaly_id } = await anomalyOf(`${name}-shop`);
    const { page, hand, button } = await open(`#/anomaly/${anomaly_id}`);
    await hand.press(button("Silence"));
    await page
      .locator("dialog")
      .getByText(/firing alerts would be quiet|No alert that fires/)
      .waitFor();
    await hand.write(field(page, "Why"), `${name} load test`);
    await hand.press(button("Silence for 2 h"));
    await page.locator("dialog").waitFor({ state: "detached" });
    const { silences } = await server.get<{ silences: Array<{ comment: string }> }>("/api/v1/silences");
    expect(silences.map(({ comment }) => comment)).toContain(`${name} load test`);
  });

  it("a threshold, tried on the last day before it can be saved", async () => {
    const { page, hand, button } = await open(`#/settings?service_id=${name}-shop`, adminToken());
    await hand.write(field(page, "z threshold"), "9");
    expect(await button("Save").isDisabled()).toBe(true);
    await hand.press(button("Try it on the last day"));
    await page.locator(".note", { hasText: "of the last day" }).waitFor();
    await hand.press(button("Save"));
    const set = async () => (await server.get<{ set: object }>("/api/v1/settings/watchdog", { service_id: `${name}-shop` })).set;
    await vi.waitFor(async () => expect(await set()).toEqual({ z_threshold: 9 }), { timeout: PATIENCE_MS });
  });

  it("dead letters: corrected many at once, tried, and sent in", async () => {
    const { page, hand, button } = await open(`#/dead-letters?service_id=${name}-importer`);
    await hand.press(button("Correct all of these"));
    await page.getByText("3 of 3 rejected records would change").waitFor();
    await hand.press(button("Correct 3"));
    await page.getByText("3 of 3 corrected, 3 of them can be taken now").waitFor();
    await hand.press(button("Done"));
    await hand.press(button("Try a replay of these"));
    await page.getByText("3 of 3 rejected records would be taken").waitFor();
    await hand.press(button("Replay these"));
    await page.getByText("3 taken, 0 refused again").waitFor();
    const { total } = await server.get<{ total: number }>("/api/v1/dlq", { service_id: `${name}-importer` });
    expect(total).toBe(0);
  });

  it("a limit, declared beside its series", async () => {
    const { page, hand, button } = await open(`#/service/${name}-shop?metric=${METRIC}`);
    await hand.press(page.locator("summary", { hasText: "Set a limit" }));
    await hand.write(field(page, "Full at"), "4000");
    await hand.press(button("Save"));
    const limits = async () => (await server.get<{ limits: Array<{ service_id: string; limit_value: number }> }>("/api/v1/saturation/limits")).limits; // biome-ignore format: one row
    const own = expect.objectContaining({ service_id: `${name}-shop`, limit_value: 4000 });
    await vi.waitFor(async () => expect(await limits()).toContainEqual(own), { timeout: PATIENCE_MS });
  });

  it("the map of pillars, many lines at once, after a preview", async () => {
    const { page, hand, button } = await open("#/pillars");
    await hand.write(page.locator("textarea").first(), `${name}-shop, acme, shop\n${name}-unheard, acme`);
    await hand.press(button("Look at what would change"));
    await page.getByText("2 new").waitFor();
    await hand.press(button("Save"));
    await page.getByText("2 services mapped").waitFor();
  });

  it("a route: where an alert would go, a rule, and what nothing is configured for", async () => {
    const { page, hand, button } = await open("#/routing", adminToken());
    await hand.write(field(page, "Name"), `${name} rule`);
    await hand.write(field(page, "Channels"), `pager:${name}`);
    await hand.write(field(page, "Services"), `${name}-*`);
    await hand.press(button("Add"));
    await page.locator(".note.warn", { hasText: `pager:${name}` }).waitFor();
    await hand.write(field(page, "Service"), `${name}-shop`);
    await hand.press(button("Ask"));
    await page.getByText(`“${name} rule” fits.`).waitFor();
    await page.getByText("leads nowhere: nothing is configured for it").waitFor();
  });

  it("a key that is shown once, and opens what it may; a viewer is refused with the role and what was typed stays", async () => {
    const { page, hand, button } = await open("#/keys?new=1", adminToken());
    await hand.write(field(page, "What it is for"), `${name} dashboards`);
    await hand.choose(field(page, "Scope"), "readonly");
    await hand.press(button("Create a key"));
    const key = (await page.locator(".note.warn pre").textContent()) as string;
    await hand.press(button("I have it"));
    await page.locator("td", { hasText: `${name} dashboards` }).waitFor();
    await page.reload();
    await page.locator("td", { hasText: `${name} dashboards` }).waitFor();
    expect(await page.content()).not.toContain(key);
    const viewer = await open(`#/pillars`, key);
    await viewer.hand.write(viewer.page.locator("textarea").first(), "viewed, acme");
    await viewer.hand.press(viewer.button("Look at what would change"));
    await viewer.page.getByText("1 new").waitFor();
    await viewer.hand.press(viewer.button("Save"));
    await viewer.page
      .getByText(/this needs the role operator; yours is viewer/)
      .first()
      .waitFor();
    expect(await viewer.page.locator("textarea").first().inputValue()).toBe("viewed, acme");
  });
});
