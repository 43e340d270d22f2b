// A real browser: Debian's Chromium, driven by playwright-core.
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where the browser is; undefined where there is none. */
export const BROWSER_PATH = PLACES.find((path) => existsSync(path));

/** Starts it, without a sandbox of its own: tests run as root in containers. */
export function launchBrowser(): Promise<Browser> {
  if (BROWSER_PATH === undefined) throw new Error("no chromium here: apt-get install chromium");
  return chromium.launch({ executablePath: BROWSER_PATH, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
