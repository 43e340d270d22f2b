// The user interface while its server is gone and comes back, and behind a real nginx that ends TLS.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BROWSER_PATH, launchBrowser } from "../support/browser.ts";
import { Certificates } from "../support/certificates.ts";
import { missingProxy, ProxyPeers } from "../support/proxy-peers.ts";
import { ServerBench } from "../support/server-process.ts";

if (BROWSER_PATH === undefined)
  process.stderr.write("web-server-gone.test.ts is skipped: chromium is not installed (apt-get install chromium)\n");

/** Below the ports that connections of others go out by: nobody takes it between the two servers. */
const PORT = String(21_000 + (process.pid % 8_000));

describe.skipIf(BROWSER_PATH === undefined)("the user interface", () => {
  const bench = new ServerBench();
  const peers = new ProxyPeers();
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await peers.close();
    await bench.close();
  });

  it("keeps what was known with its age while the server is gone, keeps what was typed, and goes on by itself", async () => {
    const first = await bench.start({ ENGINES: "1", PORT });
    const page = await browser.newPage();
    await page.goto(`${first.origin}/#/labels`);
    await page.locator(".live.live").waitFor();
    await page.locator(".empty-title", { hasText: "No labels" }).waitFor();
    await page.locator("label.field", { hasText: "Value" }).locator("input").first().fill("payments");
    await first.kill();
    await page.locator(".live.connecting, .live.offline").waitFor();
    await page
      .locator(".note.stale", { hasText: /what was known .* ago/ })
      .first()
      .waitFor();
    await bench.start({ ENGINES: "1", DATA_DIR: first.dataDir, PORT });
    await page.locator(".live.live").waitFor();
    await page.locator(".note.stale").first().waitFor({ state: "detached" });
    expect(await page.locator("label.field", { hasText: "Value" }).locator("input").first().inputValue()).toBe("payments");
  });

  it.skipIf(missingProxy() !== undefined)("behind nginx with TLS: signed in by a token, with a cookie that is Secure, live", async () => {
    const certificates = new Certificates();
    const { certificate, key } = certificates.signed("server");
    const { port, start } = await peers.nginxWithTls(certificate, key);
    const origin = `https://127.0.0.1:${port}`;
    const server = await bench.start({ ENGINES: "1", PUBLIC_URL: origin });
    await start(server.origin);
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(`${origin}/#/system`);
    await page.getByLabel("Token or API key").fill(readFileSync(join(server.dataDir, "admin-token"), "utf8").trim());
    await page.locator(".sign-in").getByRole("button", { name: "Sign in" }).click();
    await page.locator(".live.live").waitFor();
    await page.getByText("admin-token").first().waitFor();
    const [cookie] = await context.cookies(origin);
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: "Strict" });
    await context.close();
    certificates.close();
  });
});
