// Takes a query apart into tokens, with Prometheus' messages of what cannot be one (promql/parser/lex.go). Inside braces words are names; inside brackets stand durations.
// Finds the end of a number or a duration (scanNumber and acceptRemainingDuration in promql/parser/lex.go of Prometheus). Whether the number is one is found out later.
import { ParseError } from "./position.ts";
import { quote } from "./quoted-text.ts";
import { stringEnd } from "./string-scanner.ts";
import { type Token, type TokenKind, WORD_KINDS } from "./token.ts";

const SPACE = /[ \t\n\r]*/y;
const COMMENT = /#[^\r\n]*/y;
const NAME = /[A-Za-z0-9_]*/y;
const METRIC_NAME = /[A-Za-z0-9_:]*/y;
const SINGLE: ReadonlySet<string> = new Set([",", "*", "/", "%", "+", "-", "^", "@"]);
const BRACKET_KEYWORDS: ReadonlySet<string> = new Set(["step", "range", "min_of", "max_of"]);

/** Reads tokens one by one; throws ParseError. */
export class Lexer {
  readonly query: string;
  readonly #numbers: NumberScanner;
  #at = 0;
  #parenDepth = 0;
  #isInBraces = false;
  #isInBrackets = false;
  /** Inside brackets: whether a number, and then a colon, has been read. */
  #hasDuration = false;
  #hasColon = false;

  constructor(query: string) {
    this.query = query;
    this.#numbers = new NumberScanner(query);
  }

  /** Offset behind the last token. */
  get end(): number {
    return this.#at;
  }

  /** The next token; at the end of the query always `end of input`. */
  next(): Token {
    this.#skipSpace();
    if (this.#isInBraces) return this.#nextInBraces();
    return this.#isInBrackets ? this.#nextInBrackets() : this.#nextOutside();
  }

  #skipSpace(): void {
    for (let before = -1; before !== this.#at; ) {
      before = this.#at;
      this.#at = endOf(SPACE, this.query, this.#at);
      if (this.query[this.#at] === "#") this.#at = endOf(COMMENT, this.query, this.#at);
    }
  }

  #nextOutside(): Token {
    const character = this.#peek();
    if (character === "") return this.#endOfInput();
    if (SINGLE.has(character)) return this.#take(character as TokenKind, 1);
    if (/[=!<>]/.test(character)) return this.#comparison(character);
    if (isDigit(character) || (character === "." && isDigit(this.#peek(1)))) return this.#number();
    if (/["'`]/.test(character)) return this.#string();
    if (/[A-Za-z_:]/.test(character)) return this.#word();
    if (character === "{") {
      this.#isInBraces = true;
      return this.#take("{", 1);
    }
    if (character === "[") return this.#openBracket();
    if (character === "]") throw this.#refuse("unexpected right bracket ']'");
    if (character === "(" || character === ")") return this.#paren(character);
    throw this.#refuse(`unexpected character: ${quote(this.#whole(), "'")}`);
  }

  #endOfInput(): Token {
    if (this.#parenDepth !== 0) throw this.#refuse("unclosed left parenthesis");
    return { kind: "end of input", start: this.#at, text: "" };
  }

  #comparison(first: string): Token {
    const second = this.#peek(1);
    if (second === "=") return this.#take(`${first}=` as TokenKind, 2);
    if (first === "=" && second === "~") throw this.#refuse("unexpected character after '=': '~'");
    if (first === "!") throw this.#refuse(`unexpected character after '!': ${quoteOrEnd(this.#whole(1))}`);
    return this.#take(first as TokenKind, 1);
  }

  #paren(character: "(" | ")"): Token {
    const token = this.#take(character, 1);
    this.#parenDepth += character === "(" ? 1 : -1;
    if (this.#parenDepth < 0) throw this.#refuse("unexpected right parenthesis ')'");
    return token;
  }

  #openBracket(): Token {
    this.#isInBrackets = true;
    this.#hasDuration = false;
    this.#hasColon = false;
    return this.#take("[", 1);
  }

  /** Between brackets: durations, their arithmetic and the colon of a subquery. */
  #nextInBrackets(): Token {
    const character = this.#peek();
    if (character === "") {
      throw this.#refuse(this.#hasDuration ? "unclosed left bracket" : "unexpected end of input in duration expression");
    }
    if (character === "]") {
      this.#isInBrackets = false;
      return this.#take("]", 1);
    }
    if (character === ":") return this.#colon();
    if (character === "(" || character === ")") return this.#paren(character);
    if (/[-+*/%^,]/.test(character)) return this.#take(character as TokenKind, 1);
    if (isDigit(character) || (character === "." && isDigit(this.#peek(1)))) {
      this.#hasDuration = true;
      return this.#number();
    }
    if (character === "[") throw this.#refuse("unexpected left bracket '['");
    return this.#bracketWord(character);
  }

  #colon(): Token {
    if (!this.#hasDuration) throw this.#refuse("unexpected colon before duration in duration expression", 1);
    if (this.#hasColon) throw this.#refuse("unexpected colon ':'");
    this.#hasColon = true;
    return this.#take(":", 1);
  }

  #bracketWord(first: string): Token {
    const end = endOf(NAME, this.query, this.#at);
    const word = this.query.slice(this.#at, end).toLowerCase();
    if (BRACKET_KEYWORDS.has(word)) {
      this.#hasDuration = true;
      return this.#take(WORD_KINDS.get(word) ?? "identifier", word.length);
    }
    if (this.#hasDuration && /[A-Za-z_]/.test(first)) throw this.#refuse(`unexpected character: ${quote(first, "'")}, expected ':'`);
    throw this.#refuse(`unexpected character in duration expression: ${quote(this.#whole(), "'")}`);
  }

  /** Between braces: names, strings and matching operators. */
  #nextInBraces(): Token {
    const character = this.#peek();
    if (character === "") throw this.#refuse("unexpected end of input inside braces");
    if (/[A-Za-z_]/.test(character)) return this.#take("identifier", endOf(NAME, this.query, this.#at) - this.#at);
    if (character === ",") return this.#take(",", 1);
    if (/["'`]/.test(character)) return this.#string();
    if (character === "=") return this.#peek(1) === "~" ? this.#take("=~", 2) : this.#take("=", 1);
    if (character === "!") {
      const second = this.#peek(1);
      if (second === "~" || second === "=") return this.#take(`!${second}`, 2);
      throw this.#refuse(`unexpected character after '!' inside braces: ${quoteOrEnd(this.#whole(1))}`);
    }
    if (character === "{") throw this.#refuse("unexpected left brace '{'");
    if (character !== "}") throw this.#refuse(`unexpected character inside braces: ${quote(this.#whole(), "'")}`);
    this.#isInBraces = false;
    return this.#take("}", 1);
  }

  #string(): Token {
    const end = stringEnd(this.query, this.#at);
    if (typeof end === "string") throw this.#refuse(end);
    return this.#take("string", end - this.#at);
  }

  #number(): Token {
    const found = this.#numbers.scan(this.#at);
    if (found.kind === undefined) throw this.#refuse(`bad number or duration syntax: ${quote(this.query.slice(this.#at, found.end))}`);
    return this.#take(found.kind, found.end - this.#at);
  }

  #word(): Token {
    const end = endOf(METRIC_NAME, this.query, this.#at);
    const word = this.query.slice(this.#at, end);
    const kind = this.#wordKind(word.toLowerCase(), end);
    return this.#take(kind ?? (word.includes(":") ? "metric identifier" : "identifier"), word.length);
  }

  /** fill, fill_left and fill_right are words of the language only where a parenthesis follows. */
  #wordKind(word: string, end: number): TokenKind | undefined {
    const kind = WORD_KINDS.get(word);
    const isName = word.startsWith("fill") && this.query[endOf(SPACE, this.query, end)] !== "(";
    return isName ? undefined : kind;
  }

  #take(kind: TokenKind, length: number): Token {
    const start = this.#at;
    this.#at += length;
    return { kind, start, text: this.query.slice(start, this.#at) };
  }

  #peek(ahead = 0): string {
    return this.query[this.#at + ahead] ?? "";
  }

  /** The whole character, which may be two units. */
  #whole(ahead = 0): string {
    const code = this.query.codePointAt(this.#at + ahead);
    return code === undefined ? "" : String.fromCodePoint(code);
  }

  #refuse(reason: string, ahead = 0): ParseError {
    return new ParseError(this.query, this.#at + ahead, reason);
  }
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9" && character.length === 1;
}

/** Go prints the end of the input as the character -1, which is none. */
function quoteOrEnd(character: string): string {
  return character === "" ? "'\uFFFD'" : quote(character, "'");
}

/** Where what was looked at ends; without a kind it is neither a number nor a duration. */
interface ScannedNumber {
  readonly kind: "number" | "duration" | undefined;
  readonly end: number;
}

/** Scans numbers of one text. */
class NumberScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Scans the number or duration at an offset. */
  scan(start: number): ScannedNumber {
    this.#at = start;
    if (this.#scanNumber()) return { kind: "number", end: this.#at };
    if (this.#scanRestOfDuration()) return { kind: "duration", end: this.#at };
    return { kind: undefined, end: Math.min(this.#at + 1, this.#text.length) };
  }

  #scanNumber(): boolean {
    const isHex = this.#accept("0") && this.#accept("xX");
    if (isHex) this.#accept("_");
    const digits = isHex ? "0123456789abcdefABCDEF" : "0123456789";
    this.#accept(".");
    this.#accept(digits);
    let hasDot = false;
    let hasExponent = false;
    while (this.#is(`${digits}._eE`)) {
      if (this.#accept(".")) {
        if (hasDot || isHex || this.#is("_.")) return false;
        hasDot = true;
      } else if (!isHex && this.#accept("eE")) {
        if (hasExponent) return false;
        hasExponent = true;
        this.#accept("+-");
        if (this.#is("._eE") || this.#at >= this.#text.length) return false;
      } else if (this.#accept("_")) {
        if (this.#is("._eE") || this.#at >= this.#text.length) return false;
      } else while (this.#accept(digits));
    }
    return !this.#isAlphanumeric();
  }

  /** A duration behind its first number, such as m30s. */
  #scanRestOfDuration(): boolean {
    if (!this.#accept("smhdwy")) return false;
    this.#accept("s");
    while (this.#accept("0123456789")) {
      while (this.#accept("0123456789"));
      if (!this.#accept("smhdw")) return false;
      this.#accept("s");
    }
    return !this.#isAlphanumeric();
  }

  #accept(characters: string): boolean {
    if (!this.#is(characters)) return false;
    this.#at++;
    return true;
  }

  #is(characters: string): boolean {
    const character = this.#text[this.#at];
    return character !== undefined && characters.includes(character);
  }

  #isAlphanumeric(): boolean {
    return /[A-Za-z0-9_]/.test(this.#text[this.#at] ?? " ");
  }
}
