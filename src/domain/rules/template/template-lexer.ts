// Cuts a template into text and the tokens of its actions, as Go does (text/template/parse/lex.go): {{- and -}} trim, spaces part operands.
import { stringEnd } from "../../promql/parser/string-scanner.ts";

/** Kinds of tokens; `character` stands for each other sign. */
export type TemplateTokenKind =
  | "text"
  | "open"
  | "close"
  | "space"
  | "identifier"
  | "keyword"
  | "field"
  | "variable"
  | "dot"
  | "nil"
  | "bool"
  | "string"
  | "rune"
  | "number"
  | "declare"
  | "assign"
  | "pipe"
  | "("
  | ")"
  | "character"
  | "end of input"
  | "error";

/** A piece of a template; `start` is an offset in UTF-16 units. An error's text is its message. */
export interface TemplateToken {
  readonly kind: TemplateTokenKind;
  readonly start: number;
  readonly text: string;
}

const KEYWORDS: ReadonlySet<string> = new Set(["block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"]);
const SPACE = /[ \t\r\n]*/y;
const NAME = /[\p{L}\p{Nd}_]+/uy;
const NUMBER =
  /[+-]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?|\.[0-9][0-9_]*(?:[eE][+-]?[0-9_]+)?)/y;

/** The tokens of a template one after the other; behind an error there is nothing. */
export class TemplateLexer {
  readonly #source: string;
  readonly #waiting: TemplateToken[] = [];
  #at = 0;
  #isInside = false;
  #depth = 0;
  #isTrimmed = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** Takes a token off the front of what is left. */
  next(): TemplateToken {
    return this.#waiting.shift() ?? (this.#isInside ? this.#inside() : this.#outside());
  }

  #token(kind: TemplateTokenKind, end: number): TemplateToken {
    const token = { kind, start: this.#at, text: this.#source.slice(this.#at, end) };
    this.#at = end;
    return token;
  }

  #error(text: string): TemplateToken {
    const start = this.#at;
    this.#at = this.#source.length;
    this.#isInside = false;
    return { kind: "error", start, text };
  }

  #outside(): TemplateToken {
    if (this.#isTrimmed) this.#at = this.#match(SPACE);
    this.#isTrimmed = false;
    if (this.#at >= this.#source.length) return { kind: "end of input", start: this.#source.length, text: "" };
    const open = this.#source.indexOf("{{", this.#at);
    if (open < 0) return this.#token("text", this.#source.length);
    const isTrimming = /^\{\{-[ \t\r\n]/.test(this.#source.slice(open, open + 4));
    const start = this.#at;
    const text = this.#source.slice(start, open);
    this.#at = open;
    this.#open(isTrimming);
    const written = isTrimming ? text.replace(/[ \t\r\n]+$/, "") : text;
    if (written === "") return this.next();
    return { kind: "text", start, text: written };
  }

  /** Takes an opening delimiter and a comment behind it; the token waits. */
  #open(isTrimming: boolean): void {
    const opening = this.#token("open", this.#at + 2);
    if (isTrimming) this.#at = this.#match(SPACE, this.#at + 1);
    if (!this.#source.startsWith("/*", this.#at)) {
      this.#isInside = true;
      this.#waiting.push(opening);
      return;
    }
    const end = this.#source.indexOf("*/", this.#at + 2);
    const closing = end < 0 ? null : /^(?:[ \t\r\n]-)?\}\}/.exec(this.#source.slice(end + 2, end + 6));
    if (closing === null) this.#waiting.push(this.#error(end < 0 ? "unclosed comment" : "comment ends before closing delimiter"));
    else {
      this.#at = end + 2 + closing[0].length;
      this.#isTrimmed = closing[0].length > 2;
    }
  }

  #match(pattern: RegExp, from = this.#at): number {
    pattern.lastIndex = from;
    return pattern.test(this.#source) ? pattern.lastIndex : from;
  }

  #inside(): TemplateToken {
    const rest = this.#source.slice(this.#at, this.#at + 5);
    const closing = /^(?:[ \t\r\n]-)?\}\}/.exec(rest);
    if (closing !== null) return this.#close(closing[0]);
    const first = rest[0];
    if (first === undefined) return this.#error("unclosed action");
    if (/[ \t\r\n]/.test(first)) return this.#spaces();
    if (first === '"' || first === "`" || first === "'") return this.#quoted(first);
    if (rest.startsWith(":=")) return this.#token("declare", this.#at + 2);
    if (first === ":") return this.#error("expected :=");
    if (first === "=") return this.#token("assign", this.#at + 1);
    if (first === "|") return this.#token("pipe", this.#at + 1);
    if (first === "(" || first === ")") return this.#paren(first);
    if (first === "$") return this.#token("variable", this.#match(NAME, this.#at + 1));
    if (first === "." && !/[0-9]/.test(rest[1] ?? "")) return this.#field();
    if (/[0-9+\-.]/.test(first)) return this.#number();
    const end = this.#match(NAME);
    if (end > this.#at) return this.#word(end);
    if (/[!-~]/.test(first)) return this.#token("character", this.#at + 1);
    return this.#error(`unrecognized character in action: ${codeText(this.#source, this.#at)}`);
  }

  #close(text: string): TemplateToken {
    if (this.#depth > 0) return this.#error("unclosed left paren");
    this.#isInside = false;
    this.#isTrimmed = text.length > 2;
    return this.#token("close", this.#at + text.length);
  }

  /** Spaces, but for the last where it belongs to a closing delimiter that trims. */
  #spaces(): TemplateToken {
    let end = this.#match(SPACE);
    if (this.#source.startsWith("-}}", end)) end--;
    return end === this.#at ? this.#close(this.#source.slice(this.#at, this.#at + 4)) : this.#token("space", end);
  }

  #paren(sign: "(" | ")"): TemplateToken {
    this.#depth += sign === "(" ? 1 : -1;
    return this.#depth < 0 ? this.#error("unexpected right paren") : this.#token(sign, this.#at + 1);
  }

  #field(): TemplateToken {
    const end = this.#match(NAME, this.#at + 1);
    return end === this.#at + 1 ? this.#token("dot", end) : this.#token("field", end);
  }

  #number(): TemplateToken {
    const end = this.#match(NUMBER);
    const behind = this.#match(NAME, end);
    if (end > this.#at && behind === end) return this.#token("number", end);
    return this.#error(`bad number syntax: ${JSON.stringify(this.#source.slice(this.#at, Math.max(behind, this.#at + 1)))}`);
  }

  #word(end: number): TemplateToken {
    const text = this.#source.slice(this.#at, end);
    if (!/^(?:$|[\s.,|:)(}]|-\}\})/.test(this.#source.slice(end, end + 3))) {
      return this.#error(`bad character ${codeText(this.#source, end)}`);
    }
    if (KEYWORDS.has(text)) return this.#token("keyword", end);
    if (text === "nil") return this.#token("nil", end);
    return this.#token(text === "true" || text === "false" ? "bool" : "identifier", end);
  }

  #quoted(mark: string): TemplateToken {
    const end = stringEnd(this.#source, this.#at);
    if (typeof end === "number") return this.#token(mark === "'" ? "rune" : "string", end);
    if (mark === "'") return this.#error("unterminated character constant");
    return this.#error(mark === "`" ? "unterminated raw quoted string" : "unterminated quoted string");
  }
}

function codeText(source: string, at: number): string {
  const code = source.codePointAt(at) as number;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")} '${String.fromCodePoint(code)}'`;
}
