// Text as HTML. What is built of it is text too: `Html` distinguishes what has been escaped from what has not.
import { ownMember } from "../../core/collections/own-member.ts";

/** HTML that may stand in a page. */
export type Html = string & { readonly escaped: unique symbol };

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Template of HTML: what stands in braces is escaped unless it is HTML itself; lists are joined. */
export function html(parts: TemplateStringsArray, ...values: ReadonlyArray<Html | Html[] | Text>): Html {
  const pieces = parts.map((part, at) => (at === 0 ? part : insert(values[at - 1]) + part));
  return pieces.join("") as Html;
}

/** A text that is not HTML yet. */
export class Text {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function insert(value: Html | Html[] | Text | undefined): string {
  if (value instanceof Text) return value.text.replace(/[&<>"']/g, (character) => ownMember(ESCAPES, character) as string);
  return Array.isArray(value) ? value.join("\n") : (value ?? "");
}

/** Marks a text that has to be escaped. */
export function text(value: unknown): Text {
  return new Text(String(value));
}

/** No HTML at all. */
export const NOTHING = "" as Html;
