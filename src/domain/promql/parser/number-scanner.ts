// Finds the end of a number or a duration (scanNumber and acceptRemainingDuration in promql/parser/lex.go of Prometheus). Whether the number is one is found out later.

/** Where what was looked at ends; without a kind it is neither a number nor a duration. */
export interface ScannedNumber {
  readonly kind: "number" | "duration" | undefined;
  readonly end: number;
}

/** Scans numbers of one text. */
export class NumberScanner {
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
