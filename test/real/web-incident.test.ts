// Journeys of an incident in a real browser, on a desk and on a telephone: from a message's link to the cause and the end, from a false alarm to a threshold,
// and from a rule to a drill. Each counts its clicks.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { BROWSER_PATH, launchBrowser } from "../support/browser.ts";
import { Mouse } from "../support/browser-hand.ts";
import { FakeReceivers } from "../support/fake-receivers.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

if (BROWSER_PATH === undefined)
  process.stderr.write("web-incident.test.ts is skipped: chromium is not installed (apt-get install chromium)\n");

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [1440, 390] as const;
const SAMPLES = 240;
const METRIC = "request.duration_ms";

const bench = new ServerBench();
let receivers: FakeReceivers;
let server: ServerProcess;
let browser: Browser;
let token: string;
const pages: Page[] = [];

async function read<T>(path: string): Promise<T> {
  const response = await fetch(`${server.origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as T;
}

/** Link of the page that chat was told of a service. */
function linkOf(service: string): string | undefined {
  const attachments = receivers
    .at("/slack/")
    .flatMap(({ body }) => body.attachments as Array<{ blocks: Array<{ text: { text: string } }> }>);
  const text = attachments.map(({ blocks }) => blocks[0]?.text.text ?? "").find((one) => one.includes(service) && one.includes("Firing"));
  return /<(https?:[^|]+)\|/.exec(text ?? "")?.[1];
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Array<{ id: string }> }> } };
    return (await axe.run()).violations.map(({ id }) => id);
  });
}

describe.skipIf(BROWSER_PATH === undefined)("an incident", () => {
  beforeAll(async () => {
    receivers = await FakeReceivers.open();
    browser = await launchBrowser();
    server = await bench.start({
      ENGINES: "1",
      READ_AUTH: "required",
      WATCHDOG_WARMUP_MINUTES: "0",
      CHAT_WEBHOOK_URL: `${receivers.origin}/slack/T/B/C`,
      NOTIFY_LIMITS: "chat=1000",
      PUBLIC_URL: "http://vedette.example",
    });
    token = readFileSync(join(server.dataDir, "admin-token"), "utf8").trim();
    const startMs = Date.now() - SAMPLES * 10_000;
    const services = WIDTHS.flatMap((width) => [`shop-${width}`, `cart-${width}`]);
    const records = services.flatMap((service_id) =>
      Array.from({ length: SAMPLES }, (_, at) => ({
        service_id,
        metric_name: METRIC,
        value: 100 + ((at * 7) % 5) + (at >= SAMPLES - 5 ? 400 : 0),
        timestamp: new Date(startMs + at * 10_000).toISOString(),
      })),
    );
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${server.origin}/api/v1/telemetry/batch`, { method: "POST", headers, body: JSON.stringify(records) });
    expect(response.status).toBe(200);
    for (const service of services) await vi.waitFor(() => expect(linkOf(service)).toBeTruthy(), { timeout: PATIENCE_MS });
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close();
  });
  afterAll(async () => {
    await browser?.close();
    receivers?.close();
    await bench.close();
  });

  describe.each(WIDTHS)("at %i px", (width) => {
    async function open(target: string) {
      const context = await browser.newContext({ viewport: { width, height: 844 } });
      await context.request.post(`${server.origin}/sign-in`, { headers: { authorization: `Bearer ${token}` } });
      const page = await context.newPage();
      pages.push(page);
      await page.goto(target);
      await page.locator("main h1").waitFor();
      return { page, hand: new Mouse(), button: (name: string) => page.getByRole("button", { name, exact: true }).first() };
    }
    const here = (link: string) => link.replace("http://vedette.example", server.origin);

    it("opens by the message's link through sign-in, and is back on the alert's page (A1)", async () => {
      const context = await browser.newContext({ viewport: { width, height: 844 } });
      const page = await context.newPage();
      pages.push(page);
      await page.goto(here(linkOf(`shop-${width}`) as string));
      await page.getByLabel("Token or API key").fill(token);
      await page.locator(".sign-in").getByRole("button", { name: "Sign in" }).click();
      await page.locator("h1", { hasText: `shop-${width}` }).waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    });

    it("shows the value under the pointer, with its time (B2)", async () => {
      const { page } = await open(here(linkOf(`shop-${width}`) as string));
      await page.locator(".chart .u-over").first().hover();
      const said = () => page.locator("[data-pointed]").first().textContent();
      await vi.waitFor(async () => expect(await said()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: \d/), { timeout: PATIENCE_MS });
    });

    it("keeps what is below its chart in its place while the chart comes (A3)", async () => {
      let letChartCome = () => {};
      const asked = new Promise<void>((resolve) => {
        letChartCome = resolve;
      });
      const context = await browser.newContext({ viewport: { width, height: 844 } });
      await context.request.post(`${server.origin}/sign-in`, { headers: { authorization: `Bearer ${token}` } });
      const page = await context.newPage();
      pages.push(page);
      await page.route(/\/api\/v1\/(anomalies|series)\//, async (route) => {
        await asked;
        await route.continue();
      });
      await page.goto(here(linkOf(`shop-${width}`) as string));
      const below = page.getByRole("heading", { name: /^Anomalies/ });
      const top = async () => Math.round((await below.boundingBox())?.y ?? 0);
      const distance = async () => (await top()) - Math.round((await page.locator("p.reason").first().boundingBox())?.y ?? 0);
      await page.getByRole("link", { name: "Evidence and impact" }).waitFor();
      const before = await distance();
      letChartCome();
      await page.locator(".chart .u-over").first().waitFor();
      expect(await distance()).toBe(before);
    });

    it("is found at its cause in 3 clicks and resolved in 6 (A3)", async () => {
      const link = linkOf(`shop-${width}`) as string;
      const id = link.split("/").at(-1) as string;
      const anomaly = async () => (await read<{ anomaly_ids: string[] }>(`/api/v1/alerts/${id}`)).anomaly_ids[0];
      const reports = async () => (await read<{ reports: unknown[] }>(`/api/v1/rca/reports?anomaly_id=${await anomaly()}`)).reports;
      await vi.waitFor(async () => expect((await reports()).length).toBeGreaterThan(0), { timeout: PATIENCE_MS });
      const { page, hand, button } = await open(here(link));
      await hand.press(page.getByRole("link", { name: "Evidence and impact" }));
      await page.getByRole("heading", { name: "Impact" }).waitFor();
      expect(hand.presses).toBeLessThanOrEqual(3);
      await page.goBack();
      await hand.press(button("Resolve"));
      await page.locator("dialog textarea").waitFor();
      // What is typed goes where it is asked for (A8).
      await page.keyboard.type("rolled back");
      await hand.press(page.locator("dialog").getByRole("button", { name: "Resolve", exact: true }));
      await page.locator(".timeline", { hasText: "rolled back" }).waitFor();
      expect(hand.presses).toBeLessThanOrEqual(6);
      const alert = await read<{ state: string; resolved_by: string }>(`/api/v1/alerts/${id}`);
      expect(alert).toMatchObject({ state: "resolved", resolved_by: "person" });
      expect(await violations(page)).toEqual([]);
    });

    it("is taken, handed back, put off, commented, assigned and accepted, each by its button (B21)", async () => {
      const link = linkOf(`cart-${width}`) as string;
      const id = link.split("/").at(-1) as string;
      const { page, hand, button } = await open(here(link));
      const alert = () => read<Record<string, unknown>>(`/api/v1/alerts/${id}`);
      const becomes = (fields: object) => vi.waitFor(async () => expect(await alert()).toMatchObject(fields), { timeout: PATIENCE_MS });
      const dialog = page.locator("dialog");
      const say = async (name: string, text: string) => {
        await hand.press(button(name));
        await dialog.locator("textarea").waitFor();
        expect(await violations(page)).toEqual([]);
        await page.keyboard.type(text);
        await hand.press(dialog.getByRole("button", { name, exact: true }));
        await dialog.waitFor({ state: "detached" });
      };
      await hand.press(button("Acknowledge"));
      await becomes({ acknowledged_by: expect.any(String) });
      await hand.press(button("Hand back"));
      await becomes({ acknowledged_by: null });
      expect(hand.presses).toBe(2);
      await say("Snooze", "the supplier is at it");
      await becomes({ snoozed_until: expect.any(String) });
      await say("Comment", "a line of mine");
      await page.locator(".timeline", { hasText: "a line of mine" }).waitFor();
      await say("Assign", "ada@example.com");
      await becomes({ assignee: "ada@example.com" });
      expect(hand.presses).toBe(8);
      await say("This is the new level", "the new cache");
      await becomes({ state: "resolved", resolved_by: "accepted", resolution: expect.stringMatching(/^new level: from .*, accepted by /) });
      expect(hand.presses).toBe(10);
      await page.locator(".timeline", { hasText: "the new cache" }).waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    });

    it("of a service that is not to come back ends as that is retired on its page (point 3)", async () => {
      const service_id = `gone-${width}`;
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const declared = { service_id, severity: "high", explanation: "it is silent", environment: "staging" };
      const response = await fetch(`${server.origin}/api/v1/anomalies`, { method: "POST", headers, body: JSON.stringify(declared) });
      const { alert_id } = (await response.json()) as { alert_id: string };
      const { page, hand, button } = await open(`${server.origin}/#/service/${service_id}?environment=staging`);
      await hand.press(button("Retire"));
      await hand.press(button("Its alerts end, and it is not missed: retire it?"));
      const alert = () => read<Record<string, unknown>>(`/api/v1/alerts/${alert_id}`);
      const ended = { state: "resolved", resolved_by: "ended" };
      await vi.waitFor(async () => expect(await alert()).toMatchObject(ended), { timeout: PATIENCE_MS });
      expect(await violations(page)).toEqual([]);
    });

    it("was a false alarm: to its threshold in 4 clicks (B14)", async () => {
      const { anomalies } = await read<{ anomalies: Array<{ anomaly_id: string }> }>(`/api/v1/anomalies?service_id=shop-${width}`);
      const { page, hand, button } = await open(`${server.origin}/#/anomaly/${anomalies[0]?.anomaly_id}`);
      await hand.press(button("False alarm"));
      await page.getByText(/raises the thresholds of such findings/).waitFor();
      await hand.press(page.getByRole("link", { name: "Its settings" }));
      await page.locator("label.field", { hasText: "z threshold" }).locator("input").fill("9");
      await hand.press(button("Try it on the last day"));
      await page.locator(".note", { hasText: "of the last day" }).waitFor();
      await hand.press(button("Save"));
      const set = async () => (await read<{ set: object }>(`/api/v1/settings/watchdog?service_id=shop-${width}&metric_name=${METRIC}`)).set;
      await vi.waitFor(async () => expect(await set()).toEqual({ z_threshold: 9 }), { timeout: PATIENCE_MS });
      expect(hand.presses).toBeLessThanOrEqual(4);
    });

    it("is told to the right people: a rule, a channel's test and a drill in 8 clicks (B13)", async () => {
      const { page, hand, button } = await open(`${server.origin}/#/routing`);
      const field = (label: string) => page.locator("label.field", { hasText: label }).locator("input, textarea").first();
      await field("Name").fill(`rule ${width}`);
      await field("Channels").fill("chat");
      await field("Services").fill(`shop-${width}`);
      await hand.press(button("Add"));
      const row = page.locator("tr", { hasText: `rule ${width}` });
      await row.waitFor();
      const before = receivers.received.length;
      await hand.press(row.getByRole("button", { name: "Test", exact: true }));
      await hand.press(row.getByRole("button", { name: "It notifies people: send it?" }));
      await vi.waitFor(() => expect(receivers.received.length).toBeGreaterThan(before), { timeout: PATIENCE_MS });
      await page.locator(".note", { hasText: "notified" }).first().waitFor();
      await hand.press(button("Run a fire drill"));
      await hand.press(button("It wakes people: run it?"));
      await page
        .locator(".note", { hasText: /Notified: chat|It came through/ })
        .first()
        .waitFor({ timeout: 200_000 });
      expect(hand.presses).toBeLessThanOrEqual(8);
      expect(await violations(page)).toEqual([]);
    });
  });

  it("says nothing green of what it cannot read (A9), and search takes what is typed (A8)", async () => {
    const page = await browser.newPage();
    await page.goto(`${server.origin}/`);
    await page.locator(".sign-in").waitFor();
    const firing = page.locator(".figure", { hasText: "Firing" }).locator("dd");
    expect([await firing.textContent(), await firing.getAttribute("class")]).toEqual([expect.stringMatching(/^–/), ""]);
    await page.locator("main").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("check");
    expect(await page.locator(".palette-input").inputValue()).toBe("check");
    await page.close();
  });
});
