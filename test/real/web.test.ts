// The user interface in a real browser: every page without errors and without what axe finds, at two sizes and in both themes; journeys by mouse and by keys.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BROWSER_PATH, launchBrowser } from "../support/browser.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

if (BROWSER_PATH === undefined) process.stderr.write("web.test.ts is skipped: chromium is not installed (apt-get install chromium)\n");

const PATHS = [...readFileSync("src/web/app/map.ts", "utf8").matchAll(/\bpath: "([a-z-]+)"/g)]
  .map(([, path]) => path as string)
  .filter((path) => !["anomaly", "alert", "service"].includes(path));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const JSON_TYPE = { "content-type": "application/json" };
const SAMPLES = 40;
/** A name that would be markup where it were not text, and that turns its direction. */
const ODD_NAME = "pay<b>ments</b>\u202e";

const bench = new ServerBench();
let server: ServerProcess;
let browser: Browser;

/** Forty samples of two services, the last five far from the others; a trace between them; and something that is refused. */
async function sendTelemetry(): Promise<void> {
  const startMs = Date.now() - SAMPLES * 10_000;
  const value = (at: number) => 100 + ((at * 7) % 5) + (at >= SAMPLES - 5 ? 400 : 0);
  const records = ["checkout", ODD_NAME].flatMap((service_id) =>
    Array.from({ length: SAMPLES }, (_, at) => ({
      service_id,
      metric_name: "request.duration_ms",
      value: value(at),
      timestamp: new Date(startMs + at * 10_000).toISOString(),
    })),
  );
  const body = JSON.stringify([
    ...records,
    { service_id: "checkout", metric_name: "broken", value: "seven", timestamp: new Date().toISOString() },
  ]);
  const response = await fetch(`${server.origin}/api/v1/telemetry/batch`, { method: "POST", headers: JSON_TYPE, body });
  expect(response.status).toBe(200);
}

async function listed<Row>(list: string): Promise<Row[]> {
  const response = await fetch(`${server.origin}/api/v1/${list}`);
  return ((await response.json()) as Record<string, Row[]>)[list] as Row[];
}

function anomalies(): Promise<Array<{ anomaly_id: string; service_id: string; explanation: string }>> {
  return listed("anomalies");
}

/** A page whose errors are kept; refusals for want of a role are not errors of the page. */
async function open(hash: string, options: { width: number; theme: "light" | "dark" } = { width: 1440, theme: "light" }) {
  const context = await browser.newContext({ viewport: { width: options.width, height: 900 }, colorScheme: options.theme });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of (403|404|501)/.test(message.text())) errors.push(message.text());
  });
  await page.goto(`${server.origin}/${hash}`);
  await page.locator("main h1, main .empty-title").first().waitFor();
  await page.locator('[aria-label="loading"]').first().waitFor({ state: "detached" });
  return { page, errors, close: () => context.close() };
}

/** Rules of axe that the page breaks, each with the places of its first three; a text, which a failed test prints whole. */
async function violations(page: Page): Promise<string> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: Array<{ id: string; nodes: Array<{ target: string[] }> }> }> };
    };
    const found = await axe.run();
    return found.violations
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ target }) => target.join(" "))
            .join(", ")}`,
      )
      .join("; ");
  });
}

describe.skipIf(BROWSER_PATH === undefined)("the user interface", () => {
  beforeAll(async () => {
    server = await bench.start();
    browser = await launchBrowser();
    await sendTelemetry();
    await vi.waitFor(async () => expect((await anomalies()).length).toBeGreaterThan(1), { timeout: PATIENCE_MS });
  });
  afterAll(async () => {
    await browser?.close();
    await bench.close();
  });

  describe.each([
    { width: 1440, theme: "light" as const },
    { width: 320, theme: "dark" as const },
  ])("at $width px, $theme", (options) => {
    it.each(PATHS)("%s has no errors, nothing for axe, and does not scroll sideways", async (path) => {
      const { page, errors, close } = await open(`#/${path}`, options);
      expect(await violations(page)).toBe("");
      expect(errors.join("; ")).toBe("");
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await close();
    });
  });

  it("leads from the first page to the reason, the numbers and the chart of an anomaly, names being text", async () => {
    const { page, errors, close } = await open("");
    await page
      .locator(".item-title", { hasText: "payments" })
      .or(page.locator(".item-title", { hasText: "pay<b>" }))
      .first()
      .click();
    await page.locator(".reason").waitFor();
    expect(await page.locator(".reason").textContent()).toContain("request.duration_ms");
    await page.locator(".chart canvas").waitFor();
    expect(await page.locator("h1 b").count()).toBe(0);
    expect(await violations(page)).toBe("");
    expect(errors.join("; ")).toBe("");
    await close();
  });

  it("shows each anomaly, its alert and its service without errors and with nothing for axe", async () => {
    const shown = await anomalies();
    const alerts = await listed<{ alert_id: string }>("alerts");
    const hashes = [
      ...shown.map(({ anomaly_id }) => `#/anomaly/${anomaly_id}`),
      ...alerts.map(({ alert_id }) => `#/alert/${alert_id}`),
      "#/service/checkout",
    ];
    expect(alerts.length).toBeGreaterThan(0);
    for (const hash of hashes) {
      const { page, errors, close } = await open(hash);
      expect(await violations(page), hash).toBe("");
      expect(errors.join("; "), hash).toBe("");
      await close();
    }
  });

  it("shows what comes while it is open, without moving rows under the reader", async () => {
    const { page, close } = await open("#/anomalies");
    await page.locator(".live.live").waitFor();
    await page.locator(".item").first().waitFor();
    const before = await page.locator(".item").count();
    const startMs = Date.now() - SAMPLES * 1000;
    const records = Array.from({ length: SAMPLES }, (_, at) => ({
      service_id: "late",
      metric_name: "m",
      value: at > 30 ? 900 : 10 + (at % 3),
      timestamp: new Date(startMs + at * 1000).toISOString(),
    }));
    await fetch(`${server.origin}/api/v1/telemetry/batch`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(records) });
    await page.locator(".fresh button").waitFor();
    expect(await page.locator(".item").count()).toBe(before);
    await page.locator(".fresh button").click();
    await page.locator(".item-title", { hasText: "late" }).waitFor();
    await close();
  });

  it("makes a silence by keys alone, with what it covers", async () => {
    const [first] = await anomalies();
    const { page, close } = await open(`#/anomaly/${first?.anomaly_id}`);
    await page.locator(".reason").waitFor();
    await page.keyboard.press("s");
    await page.locator("dialog").waitFor();
    await page.locator("dialog label", { hasText: "Why" }).locator("input").fill("load test");
    await page.locator("dialog .button.main").focus();
    await page.keyboard.press("Enter");
    await page.locator("dialog").waitFor({ state: "detached" });
    const made = (await (await fetch(`${server.origin}/api/v1/silences`)).json()) as { silences: Array<{ comment: string }> };
    expect(made.silences.map(({ comment }) => comment)).toContain("load test");
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await page.locator("h1", { hasText: "Anomalies" }).waitFor();
    await close();
  });

  it("maps many services from the box, after a preview that counts what is new and what nobody has sent", async () => {
    const { page, close } = await open("#/pillars");
    await page.locator("textarea").first().fill("service_id\ttenant_id\tproduct_id\r\ncheckout\tacme\tshop\r\nunheard, acme");
    await page.getByRole("button", { name: "Look at what would change" }).click();
    await page.getByText("2 new").waitFor();
    await page.getByText(/1 never seen/).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("2 services mapped").waitFor();
    const map = (await (await fetch(`${server.origin}/api/v1/pillars/service-map`)).json()) as {
      entries: Array<{ service_id: string; product_id: string }>;
    };
    expect(map.entries.map(({ service_id, product_id }) => [service_id, product_id])).toEqual([
      ["checkout", "shop"],
      ["unheard", ""],
    ]);
    await close();
  });

  it("leads from a rule to its alert's page and back, says why another fails, and dashes where nobody may know", async () => {
    const empty = await open("#/rules");
    await empty.page.locator(".empty", { hasText: "RULES_DIR" }).waitFor();
    await empty.close();
    const group = {
      name: "shop",
      interval: "1s",
      rules: [
        { alert: "ShopDown", expr: "vector(1) > 0", labels: { service_id: "ruled" }, annotations: { summary: "the shop is down" } },
        { alert: "ShopBroken", expr: 'label_replace(vector(1), "a", "b", "a", "(")' },
      ],
    };
    const authorization = `Bearer ${readFileSync(join(server.dataDir, "admin-token"), "utf8").trim()}`;
    const body = JSON.stringify({ groups: [group] });
    const made = await fetch(`${server.origin}/api/v1/rule-groups/shop`, {
      method: "PUT",
      headers: { ...JSON_TYPE, authorization },
      body,
    });
    expect([made.status, made.ok ? "" : await made.text()]).toEqual([201, ""]);
    const isTaken = async () => (await anomalies()).some(({ service_id }) => service_id === "ruled");
    await vi.waitFor(async () => expect(await isTaken()).toBe(true), { timeout: PATIENCE_MS });
    for (const width of [1440, 390]) {
      const { page, errors, close } = await open("#/rules", { width, theme: "light" });
      await page.locator(".item", { hasText: "ShopBroken" }).locator(".note.bad", { hasText: "It fails: " }).waitFor();
      await page.locator(".item", { hasText: "ShopDown" }).getByText("firing", { exact: true }).waitFor();
      await page.locator(".panel-head", { hasText: "shop" }).getByText("by the API").waitFor();
      expect(await page.locator(".figure dd").allTextContents()).toEqual(["2", "1", "0", "1"]);
      expect(await violations(page)).toBe("");
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await page.getByRole("link", { name: "ShopDown" }).click();
      await page.getByRole("link", { name: /service_id="ruled"/ }).waitFor();
      expect(await violations(page)).toBe("");
      await page.getByRole("link", { name: /service_id="ruled"/ }).click();
      await page.locator(".reason", { hasText: "the shop is down" }).waitFor();
      await page.locator("dd").getByRole("link", { name: "ShopDown" }).waitFor();
      expect(await page.locator(".failure").count()).toBe(0);
      await page.locator("dd").getByRole("link", { name: "ShopDown" }).click();
      await page.locator("h1", { hasText: "ShopDown" }).waitFor();
      expect(errors.join("; ")).toBe("");
      await page.route("**/prometheus/api/v1/rules*", (route) => route.fulfill({ status: 401, json: {} }));
      await page.goto(`${server.origin}/#/rules`);
      await page.getByText("Sign in first").waitFor();
      expect(await page.locator(".figure dd").allTextContents()).toEqual(["–", "–", "–", "–"]);
      await close();
    }
  });

  it("opens ten tabs over plain HTTP, which share one stream", async () => {
    const context = await browser.newContext();
    for (let tab = 0; tab < 10; tab++) {
      const page = await context.newPage();
      await page.goto(`${server.origin}/#/anomalies`);
      await page.locator(".live.live").waitFor();
    }
    await context.close();
  });
});
