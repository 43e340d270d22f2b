// Looks through the text of a JSON body before any of it is parsed: how many entries its lists and members its objects have, how deep it nests, how long its texts
// are. What is beyond its bounds is refused for one or two ns a character, without memory. A text longer than a piece is also cut, in whole entries and members,
// so that it can be parsed piece by piece (json-pieces.ts). Whether it is JSON at all is JSON.parse's to say.
import {
  JSON_PARSED_BYTES_MAX,
  JSON_TEXT_CHARACTERS_MAX,
  JSON_VALUE_CHARACTERS_MIN,
  JSON_VALUES_FREE,
} from "../../core/config/body-limits.ts";

/** Bounds of a body, over all its lists and objects. */
export interface JsonBounds {
  readonly entriesMax: number;
  readonly membersMax: number;
  readonly depthMax: number;
}

/** A stretch of whole entries or members; `inner` where it is one alone that is longer than a piece and has some itself. */
export interface JsonPiece {
  readonly start: number;
  readonly end: number;
  readonly inner: JsonContainer | null;
}

/** A list or an object that is longer than a piece, cut. */
export interface JsonContainer {
  readonly isList: boolean;
  /** Of its brackets. */
  readonly start: number;
  readonly end: number;
  readonly pieces: readonly JsonPiece[];
}

/** Result of a scan: how the text is cut, null where it is one piece; or why it is refused: it is no JSON, or has too much in a member of its object. */
export type JsonScan =
  | { readonly ok: true; readonly cut: JsonContainer | null }
  | { readonly ok: false; readonly reason: "not_json" | "too_deep" | "too_much"; readonly message: string; readonly member: string | null };

interface OpenContainer {
  readonly isList: boolean;
  readonly start: number;
  count: number;
  /** Where the piece and the value that are being read begin, and values of the piece that were read. */
  pieceStart: number;
  gathered: number;
  valueStart: number;
  /** Characters of the texts in the value that is being read. */
  texts: number;
  /** The last value, where it is a container that was cut. */
  inner: JsonContainer | null;
  readonly pieces: JsonPiece[];
}

/** Characters between two turns of others: 0.1 ms. */
const SCANNED_PER_STEP = 64 * 1024;
const [QUOTE, BACKSLASH, COMMA, COLON] = [34, 92, 44, 58];
/** A number, or a list or an object that is not cut, with the space around it. */
const WIDTH_MAX = 2 * JSON_PARSED_BYTES_MAX;
const TOO_WIDE = `a number, or the space around a value, has more than ${WIDTH_MAX} characters; shorten it`;
const TOO_LONG = `a text has more than ${JSON_TEXT_CHARACTERS_MAX} characters; shorten it`;
const [LIST, LIST_END, OBJECT, OBJECT_END] = [91, 93, 123, 125];

/** Scans a text; yields between steps. */
export function* scanJson(text: string, bounds: JsonBounds): Generator<void, JsonScan> {
  const scanner = new Scanner(text, bounds);
  for (let end = SCANNED_PER_STEP; ; end += SCANNED_PER_STEP) {
    const scan = scanner.advance(end);
    if (scan !== undefined) return scan;
    yield;
  }
}

class Scanner {
  readonly #text: string;
  readonly #bounds: JsonBounds;
  readonly #valuesMax: number;
  readonly #open: OpenContainer[] = [];
  #at = 0;
  /** Begin of the text that is being read, -1 between texts. */
  #textStart = -1;
  #values = 0;
  /** The last text in the outermost object that a colon may make a name. */
  #lastText: readonly [start: number, end: number] = [0, 0];
  #member: readonly [start: number, end: number] | null = null;
  #cut: JsonContainer | null = null;

  constructor(text: string, bounds: JsonBounds) {
    this.#text = text;
    this.#bounds = bounds;
    this.#valuesMax = JSON_VALUES_FREE + text.length / JSON_VALUE_CHARACTERS_MIN;
  }

  /** Reads on up to `end`; the result where the text is over or refused. */
  advance(end: number): JsonScan | undefined {
    const text = this.#text;
    const stop = Math.min(end, text.length);
    while (this.#at < stop) {
      if (this.#textStart >= 0 && !this.#endsText(stop)) break;
      const problem = this.#take(text.charCodeAt(this.#at));
      if (problem !== undefined) return problem;
      this.#at++;
    }
    if (this.#textStart >= 0 && this.#at - this.#textStart > JSON_TEXT_CHARACTERS_MAX) return this.#tooMuch(TOO_LONG);
    return this.#at < text.length ? undefined : this.#over();
  }

  /** A short text is left to JSON.parse, which says where it is no JSON. */
  #over(): JsonScan {
    const isShort = this.#text.length <= JSON_PARSED_BYTES_MAX;
    if (!isShort && (this.#open.length > 0 || this.#textStart >= 0)) return notJson("it ends before it is complete");
    return { ok: true, cut: this.#cut };
  }

  /** Whether the text that is being read ends before `stop`; #at is then on its closing quote. */
  #endsText(stop: number): boolean {
    const text = this.#text;
    for (let at = this.#at; at < stop; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) {
        this.#at = at;
        return true;
      }
      this.#at = at + 1;
    }
    return false;
  }

  #take(code: number): JsonScan | undefined {
    if (code === QUOTE) return this.#quote();
    if (code === COMMA) return this.#next();
    if (code === LIST || code === OBJECT) return this.#begin(code === LIST);
    if (code === LIST_END || code === OBJECT_END) return this.#end();
    if (code === COLON && this.#open.length === 1) this.#member = this.#lastText;
    return undefined;
  }

  #quote(): JsonScan | undefined {
    const start = this.#textStart;
    this.#textStart = start < 0 ? this.#at : -1;
    if (start < 0) return undefined;
    if (this.#open.length === 1) this.#lastText = [start, this.#at + 1];
    const container = this.#open.at(-1);
    if (container !== undefined) container.texts += this.#at - start;
    return this.#at - start > JSON_TEXT_CHARACTERS_MAX ? this.#tooMuch(TOO_LONG) : undefined;
  }

  #begin(isList: boolean): JsonScan | undefined {
    const start = this.#at;
    this.#open.push({
      isList,
      start,
      count: 1,
      pieceStart: start + 1,
      gathered: 0,
      valueStart: start + 1,
      texts: 0,
      inner: null,
      pieces: [],
    });
    if (this.#open.length > this.#bounds.depthMax) {
      return { ok: false, reason: "too_deep", message: `the body nests more than ${this.#bounds.depthMax} levels deep`, member: null };
    }
    return this.#countValue();
  }

  #next(): JsonScan | undefined {
    const container = this.#open.at(-1);
    if (container === undefined) return undefined;
    const problem = this.#endValue(container);
    if (problem !== undefined) return problem;
    const { entriesMax, membersMax } = this.#bounds;
    if (container.isList && ++container.count > entriesMax) return this.#tooMuch(`a list has more than ${entriesMax} entries; send fewer`);
    if (!container.isList && ++container.count > membersMax)
      return this.#tooMuch(`an object has more than ${membersMax} members; leave some out`);
    return this.#countValue();
  }

  #countValue(): JsonScan | undefined {
    if (++this.#values <= this.#valuesMax) return undefined;
    return this.#tooMuch(`the body has more than ${Math.floor(this.#valuesMax)} values, too many for its length; send it in parts`);
  }

  #tooMuch(message: string): JsonScan {
    const isNamed = this.#open[0]?.isList === false && this.#member !== null;
    const member = isNamed ? this.#text.slice((this.#member?.[0] ?? 0) + 1, (this.#member?.[1] ?? 0) - 1) : null;
    return { ok: false, reason: "too_much", message, member };
  }

  /** A value ends before #at. One that is longer than a piece is a piece of its own; others are gathered. */
  #endValue(container: OpenContainer): JsonScan | undefined {
    const { pieceStart, valueStart, texts, inner } = container;
    const end = this.#at;
    const isLong = inner !== null || end - valueStart > JSON_PARSED_BYTES_MAX;
    if (inner === null && end - valueStart - texts > WIDTH_MAX) return this.#tooMuch(TOO_WIDE);
    if (isLong || end - pieceStart > JSON_PARSED_BYTES_MAX) flush(container, valueStart - 1);
    if (isLong) {
      container.pieces.push({ start: valueStart, end, inner });
      container.pieceStart = end + 1;
    } else container.gathered++;
    container.valueStart = end + 1;
    container.inner = null;
    container.texts = 0;
    return undefined;
  }

  /** What is shorter than a piece is not cut, whatever it holds. */
  #end(): JsonScan | undefined {
    const container = this.#open.pop();
    if (container === undefined || this.#at - container.start < JSON_PARSED_BYTES_MAX) return undefined;
    const problem = this.#endValue(container);
    if (problem !== undefined) return problem;
    flush(container, this.#at);
    const cut: JsonContainer = { isList: container.isList, start: container.start, end: this.#at, pieces: container.pieces };
    const outer = this.#open.at(-1);
    if ((outer === undefined ? this.#cut : outer.inner) !== null) return notJson(`something stands behind the bracket before ${this.#at}`);
    if (outer === undefined) this.#cut = cut;
    else outer.inner = cut;
    return undefined;
  }
}

/** Makes a piece of what is gathered, which ends there. */
function flush(container: OpenContainer, end: number): void {
  if (container.gathered > 0) container.pieces.push({ start: container.pieceStart, end, inner: null });
  container.pieceStart = end + 1;
  container.gathered = 0;
}

function notJson(message: string): JsonScan {
  return { ok: false, reason: "not_json", message, member: null };
}
