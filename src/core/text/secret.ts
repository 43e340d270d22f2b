// A value that must never be shown. It can be passed around freely: whatever turns it into text gets a placeholder, and a message to another thread carries nothing.

/** Mask in place of a secret value; sent back by a client it means: unchanged. */
export const HIDDEN = "***";
export const PLACEHOLDER = "(secret)";

/** A password, key or token. Text, JSON and inspection of it give a placeholder; only `reveal` gives the value. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value. Hand it straight to what needs it; never put it into a message, a log line or a stored row. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return PLACEHOLDER;
  }

  toJSON(): string {
    return PLACEHOLDER;
  }
}
