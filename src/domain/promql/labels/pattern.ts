// Patterns of matchers and of label_replace: RE2, so that no pattern takes more than linear time, and of a value only so much; lists of literal texts, escaped ones too, become
// sets, which have no bounds.
import { type Matcher, RE2JS, RE2JSException } from "re2js";
import { ownMember } from "../../../core/collections/own-member.ts";
import { PROMQL_PATTERN_CHARACTERS_MAX, PROMQL_PATTERN_STEPS_MAX } from "../../../core/config/promql-limits.ts";
import { QueryError } from "../query-error.ts";

/** A pattern that cannot be read. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** A text that means itself, or characters that are escaped to mean themselves. */
const LITERAL = /(?:[A-Za-z0-9_ :/@,"'`<>=~!#%&;-]|\\[.+*?()[\]{}^$|\\-])+/;
const LITERALS = new RegExp(`^${LITERAL.source}(?:\\|${LITERAL.source})*$`);
const ESCAPED = /\\(.)/g;

/** A test whether a whole text matches; throws PatternError. */
export function compilePattern(pattern: string): (text: string) => boolean {
  if (LITERALS.test(pattern)) {
    const texts = new Set(pattern.split(/(?<!\\)\|/).map((text) => text.replace(ESCAPED, "$1")));
    return (text) => texts.has(text);
  }
  if (pattern === ".*") return () => true;
  if (pattern === ".+") return (text) => text !== "";
  const compiled = compile(pattern);
  return (text) => boundedBy(compiled, text).matches(text);
}

/** The pattern itself. Throws QueryError where to match a text could take longer than a query may have its worker. */
function boundedBy(compiled: RE2JS, text: string): RE2JS {
  if (compiled.programSize() * text.length <= PROMQL_PATTERN_STEPS_MAX) return compiled;
  const size = `${compiled.programSize()} instructions over a value of ${text.length} characters`;
  throw new QueryError(`the regular expression would take too long: ${size}`, "too_much");
}

/** Finds the groups of a whole text that matches; throws PatternError. */
export function compileGroups(pattern: string): (text: string) => Matcher | undefined {
  const compiled = compile(pattern);
  return (text) => {
    const matcher = boundedBy(compiled, text).matcher(text);
    return matcher.matches() ? matcher : undefined;
  };
}

function compile(pattern: string): RE2JS {
  return compileSource(`^(?s:${pattern})$`);
}

function compileSource(pattern: string): RE2JS {
  if (pattern.length > PROMQL_PATTERN_CHARACTERS_MAX) {
    throw new PatternError(
      `a regular expression that is no list of texts may have ${PROMQL_PATTERN_CHARACTERS_MAX} characters, got ${pattern.length}`,
    );
  }
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
  return boundedBy(compileSource(pattern), text).matcher(text).find();
}

/** A text with each match of a pattern replaced by a template, as Go's regexp.ReplaceAllString does; throws PatternError. */
export function replacePattern(pattern: string, template: string, text: string): string {
  const matcher = boundedBy(compileSource(pattern), text).matcher(text);
  let [result, at] = ["", 0];
  while (matcher.find()) {
    result += text.slice(at, matcher.start()) + expandTemplate(template, matcher);
    at = matcher.end();
  }
  return result + text.slice(at);
}
