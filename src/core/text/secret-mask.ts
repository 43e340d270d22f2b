/**
 * Secrets in texts that come from outside: a receiver's answer, an error, may say back what it was sent. One masking for all of them: each value, each of its words
 * from 8 characters on, and both as they stand in a URL, in JSON, in hex and in base64, wherever in a longer text that was encoded. To be applied before a text is cut.
 */

import { HIDDEN } from "./secret.ts";

/** Characters of a value at least: what is shorter is in every text, and no secret. */
const VALUE_CHARACTERS_MIN = 4;
const WORD_CHARACTERS_MIN = 8;
/** Forms that are looked for, those of whole values before those of words: some 50 values of ten forms, and 350 words; 2 ms of work. */
const FORMS_MAX = 4_000;

/** A text without the secrets: `***` in place of each form of them, and of the beginning of one at the text's end. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  const forms = formsOf([...secrets]);
  const uncut = withoutBeginning(text, forms);
  const fitting = forms.filter(({ length }) => length <= uncut.length);
  if (fitting.length === 0) return uncut;
  const any = new RegExp(fitting.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "gi");
  return uncut.replace(any, HIDDEN);
}

/** The parts of a URL behind its origin, which nobody is shown: the path, its segments, the query and its values. */
export function secretParts(url: string): string[] {
  if (!URL.canParse(url)) return [url];
  const { pathname, search, searchParams, username, password } = new URL(url);
  const segments = pathname.split("/").filter((segment) => segment.length >= WORD_CHARACTERS_MIN);
  const whole = `${pathname}${search}`;
  return [...(whole === "/" ? [] : [whole, pathname.slice(1)]), ...segments, ...searchParams.values(), username, password];
}

/** All forms of the secrets, the longest first: a shorter one may be within it. */
function formsOf(secrets: readonly string[]): string[] {
  const parts = secrets.flatMap((secret) => secret.split(/[\s,;="']+/)).filter(({ length }) => length >= WORD_CHARACTERS_MIN);
  const forms = new Set<string>();
  for (const value of [...secrets, ...parts]) {
    if (value.length < VALUE_CHARACTERS_MIN) continue;
    if (forms.size >= FORMS_MAX) break;
    for (const form of encodings(value)) if (form.length >= VALUE_CHARACTERS_MIN) forms.add(form);
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

function encodings(value: string): string[] {
  const bytes = Buffer.from(value);
  const plain = [value, encodeURIComponent(bytes.toString("utf8")), JSON.stringify(value).slice(1, -1)];
  if (value.length < WORD_CHARACTERS_MIN) return plain;
  return [...plain, bytes.toString("hex"), ...[0, 1, 2].flatMap((before) => base64Within(bytes, before))];
}

/** What of a base64 text follows from these bytes alone, where `before` more stand ahead of them in their group of three. */
function base64Within(bytes: Buffer, before: number): string[] {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const from = [0, 2, 3][before] as number;
  const isWhole = (before + bytes.length) % 3 === 0;
  const inner = text.slice(from, isWhole ? undefined : -1);
  const last = before === 0 && !isWhole ? [text] : [];
  return [...last, inner].flatMap((one) => [one, one.replaceAll("+", "-").replaceAll("/", "_")]);
}

/** The text with `***` in place of the beginning of a form, from 8 characters on, at its end. */
function withoutBeginning(text: string, forms: readonly string[]): string {
  const whole = lowerCase(text);
  const tail = whole.slice(-WORD_CHARACTERS_MIN);
  if (tail.length < WORD_CHARACTERS_MIN) return text;
  let longest = 0;
  for (const form of forms) {
    const lower = lowerCase(form);
    for (let at = lower.indexOf(tail); at >= 0; at = lower.indexOf(tail, at + 1)) {
      const length = at + tail.length;
      if (length < form.length && length > longest && whole.endsWith(lower.slice(0, length))) longest = length;
    }
  }
  return longest === 0 ? text : text.slice(0, -longest) + HIDDEN;
}

/** In as many characters. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
