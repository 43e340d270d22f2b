// A real browser: Debian's Chromium, driven by playwright-core.
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { PATIENCE_MS } from "./patience.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where the browser is; undefined where there is none. */
export const BROWSER_PATH = PLACES.find((path) => existsSync(path));

/** Starts it, without a sandbox of its own: tests run as root in containers. Each wait in its pages has the suite's patience, not Playwright's 30 s. */
export async function launchBrowser(): Promise<Browser> {
  if (BROWSER_PATH === undefined) throw new Error("no chromium here: apt-get install chromium");
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  const browser = await chromium.launch({ executablePath: BROWSER_PATH, args, timeout: PATIENCE_MS });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}
