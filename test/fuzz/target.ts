// What is fuzzed: a decoder behind one function, which throws when the decoder did what it must not.
import type { InputWriter } from "./input/input-writer.ts";
import type { Random } from "./input/random.ts";

/** One decoder under test. Its state may outlive an input; a run of the same seed goes the same way. */
export interface FuzzTarget {
  readonly name: string;
  /** Longer inputs are cut. */
  readonly bytesMax: number;
  /** Byte strings that mean something to the decoder. */
  readonly tokens: readonly Uint8Array[];
  /** Writes an input that the decoder takes. */
  write(out: InputWriter, random: Random): void;
  /** Makes damage reach further: sets right what would be refused at once, such as a checksum. */
  repair?(input: Uint8Array): void;
  /**
   * Decodes one input (a view that is valid during the call) and compares with the twin. Answers a small number for what was reached, so that inputs
   * which reach something new are kept; negative where the input was refused. Throws on everything that must not happen.
   */
  check(input: Uint8Array): number;
}

const encoder = new TextEncoder();

/** Tokens from texts. */
export function textTokens(...texts: readonly string[]): Uint8Array[] {
  return texts.map((text) => encoder.encode(text));
}

/** Size as a feature: its number of bits. */
export function magnitude(size: number): number {
  return 32 - Math.clz32(size);
}

/** Something that a decoder must not do: never taken for one of its refusals. */
class Violation extends Error {}

/** Throws a violation unless it holds. */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Violation(what);
}

/** What `decode` returns; undefined for an error of a kind that it may throw. */
export function attempt<T>(decode: () => T, ...allowed: ReadonlyArray<new (...args: never[]) => Error>): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof Violation) && allowed.some((kind) => error instanceof kind)) return undefined;
    throw error;
  }
}
