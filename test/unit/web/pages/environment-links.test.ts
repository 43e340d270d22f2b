// Names of services are shared by environments: what leads to a service's part of a page names which (A10).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = "src/web";
/** Pages of what holds in all environments (labels, settings and declarations of a service), and the list that shows each. */
const OF_ALL = ["labels", "settings", "pillars", "services"];

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

/** Links to a service, or by service_id to what is of one, that say no environment. */
function mixing(text: string): string[] {
  const links = [...text.matchAll(/\blink\(\["([a-z-]+)"[^\]]*\](?:, (\{[^}]*\}|\w+))?\)/g)];
  return links.flatMap(([whole, page = "", query = ""]) => {
    const isOfService = page === "service" || /\bservice(_id)?\b/.test(query);
    return isOfService && !OF_ALL.includes(page) && !/\benvironment\b|\.\.\.of|\.\.\.pair/.test(query) ? [whole] : [];
  });
}

describe("links to a service", () => {
  it.each(sources(ROOT))("%s keeps the environment", (path) => {
    expect(mixing(readFileSync(path, "utf8"))).toEqual([]);
  });
});
