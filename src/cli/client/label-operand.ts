// LABEL=VALUE on the command line, with the operators of Alertmanager's matchers, and lengths of time.
import { ownMember } from "../../core/collections/own-member.ts";
import { UsageError } from "../../server/exit-code.ts";

const MATCHER = /^([^=!~]+)(=~|!~|!=|=)(.*)$/s;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3600_000, d: 86_400_000 };

/** A matcher as the server takes it. */
export interface LabelOperand {
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}

/** Throws UsageError where it is none. */
export function readLabel(text: string): LabelOperand {
  const [, name, operator, value] = MATCHER.exec(text) ?? [];
  if (name === undefined || operator === undefined || value === undefined)
    throw new UsageError(`${JSON.stringify(text)} is no LABEL=VALUE; operators are =, !=, =~ and !~`);
  return { name: name.trim(), operator, value };
}

/** Milliseconds of a length such as 30m, 2h, 1d. Throws UsageError. */
export function readLength(option: string, text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (ownMember(UNITS_MS, unit) ?? Number.NaN);
  if (!(ms > 0)) throw new UsageError(`--${option} takes a length such as 30m, 2h or 1d, got ${JSON.stringify(text)}`);
  return ms;
}

/** A whole number of 1 to `most`. Throws UsageError. */
export function readCount(option: string, text: string, most: number): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1 || count > most)
    throw new UsageError(`--${option} takes a whole number from 1 to ${most}, got ${JSON.stringify(text)}`);
  return count;
}
