// The tokens of a query with one ahead, and the faults that were found on the way. Prometheus tells the first of them: one that a node has stands before a later one of the syntax.
import { PROMQL_NESTING_MAX, PROMQL_OPERATORS_MAX } from "../../../core/config/promql-limits.ts";
import { Lexer } from "./lexer.ts";
import { ParseError } from "./position.ts";
import { describeToken, type Token, type TokenKind } from "./token.ts";

/** Reads the tokens of one query. */
export class TokenReader {
  readonly query: string;
  readonly #lexer: Lexer;
  #ahead: Token | undefined;
  #fault: ParseError | undefined;
  #depth = 0;
  #operators = 0;

  constructor(query: string) {
    this.query = query;
    this.#lexer = new Lexer(query);
  }

  /** The next token, left where it is. */
  get ahead(): Token {
    this.#ahead ??= this.#lexer.next();
    return this.#ahead;
  }

  /** Takes the next token. */
  take(): Token {
    const token = this.ahead;
    this.#ahead = undefined;
    return token;
  }

  /** Whether the next token is of a kind. */
  is(kind: TokenKind): boolean {
    return this.ahead.kind === kind;
  }

  /** Takes the next token if it is of a kind. */
  accept(kind: TokenKind): Token | undefined {
    return this.is(kind) ? this.take() : undefined;
  }

  /** Takes the next token, which must be of a kind. */
  expect(kind: TokenKind, context = "", expected = ""): Token {
    if (!this.is(kind)) throw this.unexpected(context, expected);
    return this.take();
  }

  /** What is wrong with the next token. */
  unexpected(context = "", expected = ""): ParseError {
    const inContext = context === "" ? "" : ` in ${context}`;
    const instead = expected === "" ? "" : `, expected ${expected}`;
    return this.refuse(this.ahead.start, `unexpected ${describeToken(this.ahead)}${inContext}${instead}`);
  }

  /** A fault at an offset. */
  refuse(start: number, reason: string): ParseError {
    return new ParseError(this.query, start, reason);
  }

  /** Notes a fault of a node: reading goes on. */
  note(start: number, reason: string): void {
    this.#fault ??= this.refuse(start, reason);
  }

  /** The first fault that was noted. */
  get fault(): ParseError | undefined {
    return this.#fault;
  }

  /** Reads something one level deeper; a query that is nested too deep is refused. */
  nested<Result>(read: () => Result): Result {
    if (++this.#depth > PROMQL_NESTING_MAX) {
      throw this.refuse(this.ahead.start, `expression is nested more than ${PROMQL_NESTING_MAX} levels deep`);
    }
    const result = read();
    this.#depth--;
    return result;
  }

  /** Counts an operator: the tree of many in a row is as deep as they are many. */
  countOperator(start: number): void {
    if (++this.#operators > PROMQL_OPERATORS_MAX) throw this.refuse(start, `expression has more than ${PROMQL_OPERATORS_MAX} operators`);
  }
}
