// Go's fmt.Sprintf, Sprint and Sprintln for the values of templates (fmt/print.go): verbs, flags, widths, and what Go writes where a verb does not fit.
import { ownMember } from "../../../core/collections/own-member.ts";
import { TEMPLATE_OUTPUT_CHARACTERS_MAX, TEMPLATE_PRECISION_MAX } from "../../../core/config/rule-limits.ts";
import { quote } from "../../promql/parser/quoted-text.ts";
import { exponentText, fixedText, generalText, shortestText } from "./go-float-text.ts";
import { GoDuration, GoStruct, GoTime, type GoValue, goText, goType, isGoList, isGoMap } from "./go-value.ts";
import { TemplateError } from "./template-function.ts";

const VERB = /%([-+# 0]*)(?:\[(\d+)\])?(\*|\d+)?(?:\.(\*|\d+)?)?(?:\[(\d+)\])?(.)?/gsu;

interface Verb {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly letter: string;
}

/** Arguments one after the other, and which of them were used. */
class Arguments {
  readonly #values: readonly GoValue[];
  #next = 0;
  #isReordered = false;

  constructor(values: readonly GoValue[]) {
    this.#values = values;
  }

  /** Goes on with an argument by its number, from 1. */
  goTo(number: string | undefined): void {
    if (number === undefined) return;
    this.#next = Number(number) - 1;
    this.#isReordered = true;
  }

  /** The next argument in brackets; none where there is none left. */
  take(): readonly [GoValue] | undefined {
    return this.#next < 0 || this.#next >= this.#values.length ? undefined : [this.#values[this.#next++]];
  }

  /** Arguments that no verb has used. */
  get extra(): readonly GoValue[] {
    return this.#isReordered ? [] : this.#values.slice(this.#next);
  }
}

/** Writes values into a format. Throws TemplateError where the text is too long. */
export function sprintf(format: string, values: readonly GoValue[]): string {
  const source = new Arguments(values);
  let written = 0;
  const count = (text: string) => {
    written += text.length;
    if (written > TEMPLATE_OUTPUT_CHARACTERS_MAX)
      throw new TemplateError(`printf writes more than ${TEMPLATE_OUTPUT_CHARACTERS_MAX} characters`);
    return text;
  };
  const text = format.replace(VERB, (...found) => count(writeVerb(found as string[], source)));
  const { extra } = source;
  if (extra.length === 0) return text;
  return `${text}%!(EXTRA ${extra.map((value) => (value === null ? "<nil>" : `${goType(value)}=${goText(value)}`)).join(", ")})`;
}

function writeVerb([whole = "", flags = "", index, widthText, precisionText, lateIndex, letter]: string[], source: Arguments): string {
  if (letter === undefined || letter === "") return "%!(NOVERB)";
  source.goTo(index);
  const width = widthText === "*" ? starred(source) : bounded(widthText);
  const hasPoint = /\./.test(whole);
  const precision = hasPoint ? (precisionText === "*" ? starred(source) : bounded(precisionText)) : undefined;
  source.goTo(lateIndex);
  if (letter === "%") return "%";
  const argument = source.take();
  if (argument === undefined) return `%!${letter}(${index === undefined && lateIndex === undefined ? "MISSING" : "BADINDEX"})`;
  return padded(verbText({ flags, width, precision, letter }, argument[0]), { flags, width, precision, letter }, argument[0]);
}

function starred(source: Arguments): number {
  const value = source.take()?.[0];
  return bounded(typeof value === "bigint" ? String(value) : "0");
}

function bounded(text: string | undefined): number {
  return Math.min(TEMPLATE_PRECISION_MAX, Number(text ?? 0));
}

function padded(text: string, { flags, width }: Verb, value: GoValue): string {
  const length = [...text].length;
  if (length >= width) return text;
  if (flags.includes("-")) return text + " ".repeat(width - length);
  const isNumber = typeof value === "number" ? Number.isFinite(value) : typeof value === "bigint";
  const isNoNumber = typeof value === "number" && !isNumber;
  if (!flags.includes("0") || !isNumber) return (flags.includes("0") && !isNoNumber ? "0" : " ").repeat(width - length) + text;
  const sign = /^[+\- ]/.test(text) ? text[0] : "";
  return sign + "0".repeat(width - length) + text.slice((sign as string).length);
}

function verbText(verb: Verb, value: GoValue): string {
  const { letter, flags } = verb;
  if (letter === "T") return goType(value);
  if (value === null || value === undefined) return letter === "v" ? "<nil>" : `%!${letter}(<nil>)`;
  const text = valueText(verb, value);
  if (text === undefined) return `%!${letter}(${goType(value)}=${goText(value)})`;
  const isSigned = (typeof value === "number" || typeof value === "bigint") && !/^[-+]/.test(text) && !"cqU".includes(letter);
  if (isSigned && flags.includes("+")) return `+${text}`;
  return isSigned && flags.includes(" ") ? ` ${text}` : text;
}

function valueText(verb: Verb, value: Exclude<GoValue, null | undefined>): string | undefined {
  if (typeof value === "string") return stringText(verb, value);
  if (typeof value === "number") return floatText(verb, value);
  if (typeof value === "bigint") return integerText(verb, value);
  if (typeof value === "boolean") return "vt".includes(verb.letter) ? String(value) : undefined;
  if (value instanceof GoTime || value instanceof GoDuration) return stringText(verb, String(value));
  if (isGoList(value)) return `[${value.map((member) => verbText(verb, member)).join(" ")}]`;
  if (isGoMap(value) && verb.letter !== "v") {
    return `map[${[...value]
      .sort()
      .map(([key, member]) => `${verbText(verb, key)}:${verbText(verb, member)}`)
      .join(" ")}]`;
  }
  return value instanceof GoStruct || isGoMap(value) ? goText(value) : undefined;
}

function stringText({ letter, precision, flags }: Verb, value: string): string | undefined {
  const cut = precision === undefined ? value : [...value].slice(0, precision).join("");
  switch (letter) {
    case "s":
      return cut;
    case "v":
      return flags.includes("#") ? quote(cut) : cut;
    case "q":
      return flags.includes("#") && !cut.includes("`") ? `\`${cut}\`` : quote(cut);
    case "x":
    case "X": {
      const hex = Array.from(new TextEncoder().encode(value), (byte) => byte.toString(16).padStart(2, "0")).join("");
      return letter === "X" ? hex.toUpperCase() : hex;
    }
    default:
      return undefined;
  }
}

function floatText({ letter, precision }: Verb, value: number): string | undefined {
  switch (letter) {
    case "v":
    case "g":
      return precision === undefined ? shortestText(value) : generalText(value, precision);
    case "G":
      return (precision === undefined ? shortestText(value) : generalText(value, precision)).replace("e", "E");
    case "f":
    case "F":
      return fixedText(value, precision ?? 6);
    case "e":
      return exponentText(value, precision ?? 6);
    case "E":
      return exponentText(value, precision ?? 6).replace("e", "E");
    default:
      return undefined;
  }
}

const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, d: 10, v: 10, x: 16, X: 16 };
const BASE_MARKS: Readonly<Record<string, string>> = { x: "0x", X: "0X", o: "0" };

function integerText({ letter, precision, flags }: Verb, value: bigint): string | undefined {
  if (letter === "c") return characterOf(value);
  if (letter === "q") return quote(characterOf(value), "'");
  if (letter === "U") return `U+${value.toString(16).toUpperCase().padStart(4, "0")}`;
  const base = ownMember(BASES, letter);
  if (base === undefined) return undefined;
  const digits = (value < 0n ? -value : value).toString(base).padStart(precision ?? 0, "0");
  const lead = flags.includes("#") ? (ownMember(BASE_MARKS, letter) ?? "") : "";
  return `${value < 0n ? "-" : ""}${lead}${letter === "X" ? digits.toUpperCase() : digits}`;
}

function characterOf(code: bigint): string {
  return code >= 0n && code <= 0x10ffffn ? String.fromCodePoint(Number(code)) : "\ufffd";
}

/** Values one after the other, with a space where neither of two neighbours is a text. */
export function sprint(values: readonly GoValue[]): string {
  return values
    .map((value, index) => (index > 0 && typeof value !== "string" && typeof values[index - 1] !== "string" ? " " : "") + goText(value))
    .join("");
}
