import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The page of a run that began then: <date>.md, and <date>-2.md and so on where the day has pages already. No run writes over the page of another. */
export function resultFile(folder, startedAt, { quick, exists = existsSync }) {
  const name = `${quick ? "quick-" : ""}${startedAt.toISOString().slice(0, 10)}`;
  for (let run = 1; ; run++) {
    const path = join(folder, `${name}${run === 1 ? "" : `-${run}`}.md`);
    if (!exists(path)) return path;
  }
}

/** Names of pages that are of no quick run, newest first. */
export function pageNames(/** @type {string[]} */ names) {
  const pages = names.flatMap((name) => {
    const [, day, run = "1"] = /^(\d{4}-\d{2}-\d{2})(?:-(\d+))?\.md$/.exec(name) ?? [];
    return day === undefined ? [] : [{ name, day, run: Number(run) }];
  });
  return pages.sort((a, b) => b.day.localeCompare(a.day) || b.run - a.run).map(({ name }) => name);
}

/**
 * The newest page of a run of all rows, and the commit that it was of; undefined where there is none. Runs that were broken off, of single rows, and quick ones, say little of the whole.
 * @param {(folder: string) => string[]} [list]
 * @param {(path: string) => string} [read]
 */
export function lastWholePage(folder, list = (path) => readdirSync(path), read = (path) => readFileSync(path, "utf8")) {
  for (const name of pageNames(list(folder))) {
    const text = read(join(folder, name));
    const [, command, commit] = /^`([^`]*)`, begun .* commit ([0-9a-f]{7,40})/m.exec(text) ?? [];
    if (commit !== undefined && !/--only|--quick/.test(command) && !/^\*\*Broken off/m.test(text)) return { name, commit };
  }
}
