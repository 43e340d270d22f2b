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

/** A pattern that cannot be read, in the words of Go. */
export class PathPatternError extends Error {
  override readonly name = "PathPatternError";
}

/** A character, a class of characters, or a sign of a pattern. */
const PATTERN_PART = /\[\^?(?:\\?[^\]\\-](?:-\\?[^\]\\-])?)+\]|\\?[^[\\]|\\[[\\]/gu;

/** The pattern as a regular expression. Throws PathPatternError where a class has no end, is empty, or nothing follows a backslash. */
function matcherOf(pattern: string): RegExp {
  const parts = pattern.match(PATTERN_PART) ?? [];
  if (parts.join("").length < pattern.length) throw new PathPatternError("syntax error in pattern");
  return new RegExp(`^${parts.map(partSource).join("")}$`, "u");
}

function partSource(part: string): string {
  if (part === "*") return "[^/]*";
  if (part === "?") return "[^/]";
  if (part.startsWith("[")) return part.replaceAll("&&", "&\\&");
  return part
    .replace(/^\\/u, "")
    .replaceAll(/[.+*?^${}()|[\]\\/-]/g, "\\$&")
    .replace("\\-", "-");
}

function namesIn(folder: string, pattern: string): string[] {
  const matcher = matcherOf(pattern);
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
