// What `***` in a body stands for: the value that is stored. It is bound to the origin that it was given for; with another origin it has to be given anew.
import { refused, shown } from "../../api/refusal.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { HIDDEN } from "../../core/text/secret.ts";

/** Named values with those that `before` has where `***` stands for them; of a name that `before` lacks nothing is kept. */
export function unhidden(input: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(input).map(([name, value]) => [name, value === HIDDEN ? ownMember(before, name) : value] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** First name whose `***` stands for nothing. */
export function nameOfNothing(input: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(input).find(([name, value]) => value === HIDDEN && !Object.hasOwn(before, name))?.[0];
}

/** Refusal of a value that would leave for another origin than it was given for. */
export function boundToOrigin(what: string, origin: string, field: string) {
  return refused(
    "unprocessable",
    `${what} was given for another target: give its value anew, *** does not stand for it at ${shown(origin)}`,
    field,
  );
}

/** Origin of a URL; the text itself where it is none. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
