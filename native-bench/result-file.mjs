import { existsSync } from "node:fs";
import { join } from "node:path";

/** The page of a run that began then: <date>.md, and <date>-2.md and so on where the day has pages already. No run writes over the page of another. */
export function resultFile(folder, startedAt, { quick, exists = existsSync }) {
  const name = `${quick ? "quick-" : ""}${startedAt.toISOString().slice(0, 10)}`;
  for (let run = 1; ; run++) {
    const path = join(folder, `${name}${run === 1 ? "" : `-${run}`}.md`);
    if (!exists(path)) return path;
  }
}
