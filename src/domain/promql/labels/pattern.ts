// Patterns of matchers and of label_replace: RE2, so that no pattern takes more than linear time; lists of literal texts become sets.
import { type Matcher, RE2JS, RE2JSException } from "re2js";
import { ownMember } from "../../../core/collections/own-member.ts";

/** A pattern that cannot be read. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

const LITERALS = /^[A-Za-z0-9_ :/@,"'`<>=~!#%&;-]+(?:\|[A-Za-z0-9_ :/@,"'`<>=~!#%&;-]+)*$/;

/** A test whether a whole text matches; throws PatternError. */
export function compilePattern(pattern: string): (text: string) => boolean {
  if (LITERALS.test(pattern)) {
    const texts = new Set(pattern.split("|"));
    return (text) => texts.has(text);
  }
  if (pattern === ".*") return () => true;
  if (pattern === ".+") return (text) => text !== "";
  const compiled = compile(pattern);
  return (text) => compiled.matches(text);
}

/** Finds the groups of a whole text that matches; throws PatternError. */
export function compileGroups(pattern: string): (text: string) => Matcher | undefined {
  const compiled = compile(pattern);
  return (text) => {
    const matcher = compiled.matcher(text);
    return matcher.matches() ? matcher : undefined;
  };
}

function compile(pattern: string): RE2JS {
  return compileSource(`^(?s:${pattern})$`);
}

function compileSource(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new PatternError(error.message);
  }
}

/**
 * Replaces $1, ${1} and ${name} of a template by groups, as Go's regexp.Expand does: a name is as long as it can be, an unknown one is empty, $$ is a dollar.
 */
export function expandTemplate(template: string, groups: Matcher): string {
  return template.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (whole, bare?: string, braced?: string) => {
    const name = bare ?? braced;
    if (name === undefined) return whole === "$$" ? "$" : whole;
    if (/^\d+$/.test(name)) return Number(name) <= groups.groupCount() ? (groups.group(Number(name)) ?? "") : "";
    return ownMember(groups.getNamedGroups(), name) ?? "";
  });
}

/** Whether a pattern matches anywhere in a text; throws PatternError. */
export function findPattern(pattern: string, text: string): boolean {
  return compileSource(pattern).matcher(text).find();
}

/** A text with each match of a pattern replaced by a template, as Go's regexp.ReplaceAllString does; throws PatternError. */
export function replacePattern(pattern: string, template: string, text: string): string {
  const matcher = compileSource(pattern).matcher(text);
  let [result, at] = ["", 0];
  while (matcher.find()) {
    result += text.slice(at, matcher.start()) + expandTemplate(template, matcher);
    at = matcher.end();
  }
  return result + text.slice(at);
}
