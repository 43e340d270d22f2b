// YAML streams as their documents, one at a time and each within bounds: tokens, depth and aliases are limited before a document is composed, and tags of
// other than the core schema are refused. Sketch: 0.2 ms an entity of 15 lines; a document at the bounds takes some 30 ms, 15 of them in its longest step.
import { Composer, Lexer, Parser } from "yaml";
import {
  CATALOG_ALIASES_MAX,
  CATALOG_DEPTH_MAX,
  CATALOG_DOCUMENT_CHARACTERS_MAX,
  CATALOG_TOKENS_MAX,
} from "../../core/config/declaration-limits.ts";
import { messageOf } from "../../core/text/error-text.ts";

/** A document's text, and the line on which it begins, from 1. */
export interface YamlText {
  readonly text: string;
  readonly line: number;
}

export type YamlValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: "unreadable" | "too_large"; readonly message: string };

const MARKER_CHARACTERS = 3;
/** Read between two turns of others: 1 ms. */
const TOKENS_PER_STEP = 500;
/** The same, of lines. */
const LINES_PER_STEP = 2_000;
/** A line that begins or ends a document, wherever it stands: YAML 1.2.2 section 9.1. */
const MARKER = /^(?:---|\.\.\.)(?=[ \t\r]|$)/;
/** Space with a tab in it, which behind a marker separates and at the beginning of a line would be taken for indentation. */
const TABBED = /^ *\t[ \t]*/;
/** A line without content: blank, a comment, a directive. */
const EMPTY_LINE = /^(?:%|[ \t]*(?:#|\r?$))/;
const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  resolveKnownTags: false,
  strict: true,
  prettyErrors: false,
  logLevel: "silent",
} as const;

/** Cuts a stream at its document markers; documents without content are left out. Null is a step without one. */
export function* yamlTexts(stream: string): Generator<YamlText | null> {
  let [from, fromLine, isEmpty, lead] = [0, 1, true, ""];
  for (let at = 0, line = 1; at <= stream.length; line++) {
    if (line % LINES_PER_STEP === 0) yield null;
    const newline = stream.indexOf("\n", at);
    const end = newline < 0 ? stream.length : newline;
    let content = at;
    if (MARKER.test(stream.slice(at, Math.min(end, at + 4)))) {
      if (!isEmpty) yield { text: lead + stream.slice(from, at), line: fromLine };
      // What stands behind the marker on its line belongs to the document.
      content = at + MARKER_CHARACTERS;
      const tabbed = TABBED.exec(stream.slice(content, end))?.[0].length ?? 0;
      content += tabbed;
      // What looks like a marker there is none: a space says so.
      const looksMarked = tabbed > 0 && MARKER.test(stream.slice(content, Math.min(end, content + 4)));
      [from, fromLine, isEmpty, lead] = [content, line, true, looksMarked ? " " : ""];
    }
    isEmpty &&= EMPTY_LINE.test(stream.slice(content, end));
    at = end + 1;
  }
  if (!isEmpty) yield { text: lead + stream.slice(from), line: fromLine };
}

/** The value of one document; yields between steps. Never throws. */
export function* readYaml(text: string): Generator<void, YamlValue> {
  if (text.length > CATALOG_DOCUMENT_CHARACTERS_MAX) {
    return bad("too_large", `has ${text.length} characters; a document may have ${CATALOG_DOCUMENT_CHARACTERS_MAX}`);
  }
  const tokens = yield* tokensOf(text);
  if (typeof tokens === "string") return bad("too_large", tokens);
  try {
    const [document, second] = [...new Composer(OPTIONS).compose(tokens, true, text.length)];
    if (document === undefined || second !== undefined) return bad("unreadable", "is no single YAML document");
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined) return bad("unreadable", `is not YAML that is read here: ${problem.message.slice(0, 200)}`);
    yield;
    return { ok: true, value: document.toJS({ maxAliasCount: CATALOG_ALIASES_MAX }) };
  } catch (error) {
    // The library's own refusals: aliases of nothing, or of too much.
    return bad("unreadable", `is not YAML that is read here: ${messageOf(error).slice(0, 200)}`);
  }
}

function bad(reason: "unreadable" | "too_large", message: string): YamlValue {
  return { ok: false, reason, message };
}

type Tokens = ReturnType<Parser["end"]> extends Generator<infer T> ? T[] : never;

/** The concrete syntax, which takes no recursion; what is too much of it otherwise. */
function* tokensOf(text: string): Generator<void, Tokens | string> {
  const parser = new Parser();
  const tokens: Tokens = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (count % TOKENS_PER_STEP === TOKENS_PER_STEP - 1) yield;
    if (++count > CATALOG_TOKENS_MAX) return `has more than ${CATALOG_TOKENS_MAX} tokens`;
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > CATALOG_DEPTH_MAX) return `nests more than ${CATALOG_DEPTH_MAX} levels deep`;
  }
  for (const token of parser.end()) tokens.push(token);
  yield;
  return tokens;
}
