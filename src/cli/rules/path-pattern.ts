// Paths of a file that names others by patterns, as Go's filepath.Glob finds them: * and ? stand for what is within one name.
import { readdirSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

const PATTERN_SIGN = /[*?[]/;

/** Paths that a pattern finds, ascending; it counts from `folder` where it is relative. */
export function matchingPaths(folder: string, pattern: string): string[] {
  const whole = isAbsolute(pattern) ? pattern : join(folder, pattern);
  let found = [whole.startsWith("/") ? "/" : ""];
  for (const name of whole.split("/").filter(Boolean)) {
    found = found.flatMap((path) => (PATTERN_SIGN.test(name) ? namesIn(path, name) : [join(path, name)]));
  }
  return found.filter(isThere).sort();
}

function namesIn(folder: string, pattern: string): string[] {
  const matcher = new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|\\]/g, "\\$&")
      .replaceAll("*", "[^/]*")
      .replaceAll("?", "[^/]")}$`,
    "u",
  );
  try {
    return readdirSync(folder === "" ? "." : folder)
      .filter((name) => matcher.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
