// What a name may be: of a service, a metric, an environment, an attribute or label, an operation, a trace, a team, a user. It stands in keys of the stores and as one
// line of pages, mails and logs. Every way in asks here, where a name is first seen: never per sample. Values of attributes, help, units and bodies are texts, not names.
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { cutToBytes, isLongerThan } from "../../core/text/utf8.ts";

/** What is wrong with a name. */
export type NameFlaw = "too_long" | "control_character" | "half_character";

/** The characters of a name, for those who read a schema. */
export const NAME_PATTERN = "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$";
export const PLAIN_NAME_PATTERN = "^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]+$";
const PLAIN_NAME = new RegExp(PLAIN_NAME_PATTERN, "u");

const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu;
const REPLACEMENT = "\ufffd";

const C0_END = 0x20;
const DELETE = 0x7f;
const C1_END = 0xa0;
const LINE_SEPARATOR = 0x2028;
const PARAGRAPH_SEPARATOR = 0x2029;
const HIGH_SURROGATES = 0xd800;
const LOW_SURROGATES = 0xdc00;
const SURROGATES_END = 0xe000;

/** The flaw of a name, undefined where it has none: at most `bytesMax` bytes of well-formed Unicode without control characters and line separators. Empty has no flaw. */
export function nameFlaw(name: string, bytesMax: number = NAME_BYTES_MAX): NameFlaw | undefined {
  if (isLongerThan(name, bytesMax)) return "too_long";
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    if (unit >= C0_END && unit < DELETE) continue;
    if (unit < C1_END || unit === LINE_SEPARATOR || unit === PARAGRAPH_SEPARATOR) return "control_character";
    if (unit < HIGH_SURROGATES || unit >= SURROGATES_END) continue;
    const next = name.charCodeAt(at + 1);
    if (unit >= LOW_SURROGATES || !(next >= LOW_SURROGATES && next < SURROGATES_END)) return "half_character";
    at++;
  }
  return undefined;
}

/** The name that a text is taken as where a refusal would lose a page: U+FFFD stands for each character that no name has, and what is too long is cut. */
export function mendedName(text: string, bytesMax: number = NAME_BYTES_MAX): string {
  if (nameFlaw(text, bytesMax) === undefined) return text;
  return cutToBytes(text.slice(0, bytesMax).replace(UNFIT, REPLACEMENT), bytesMax);
}

/** Whether a text is a name: not empty and without a flaw. */
export function isName(text: string, bytesMax: number = NAME_BYTES_MAX): boolean {
  return text !== "" && nameFlaw(text, bytesMax) === undefined;
}

/** Whether a text names a person, a tenant or an API key: a name in which nothing hides, so that it cannot pass for another's. */
export function isPlainName(text: string): boolean {
  return PLAIN_NAME.test(text);
}

/** What a flaw says in a message, behind the name's field. */
export function flawText(flaw: NameFlaw, bytesMax: number = NAME_BYTES_MAX): string {
  switch (flaw) {
    case "too_long":
      return `may have ${bytesMax} bytes; send a shorter one`;
    case "control_character":
      return "must have no control characters and no line breaks, such as U+0000 or U+000A";
    case "half_character":
      return "must be well-formed Unicode: bytes that are no UTF-8, or half of a surrogate pair, are no character";
  }
}
