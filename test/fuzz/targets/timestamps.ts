// RFC 3339 date-times against a twin made of a regular expression and the calendar of Date.UTC.
import { formatRfc3339, parseRfc3339 } from "../../../src/core/time/rfc3339.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, must, textTokens } from "../target.ts";

const FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const LENGTH_MAX = 40;

function slowly(text: string): number | undefined {
  const match = FORM.exec(text);
  if (match === null || text.length > LENGTH_MAX) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  if (month < 1 || month > 12 || midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return undefined;
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return undefined;
  const offsetMs = (match[8] === "-" ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000;
  const fractionMs = Number((match[7] ?? "").padEnd(3, "0").slice(0, 3));
  return midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + fractionMs - offsetMs;
}

export function timestampTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const text = Buffer.from(input.buffer, input.byteOffset, input.length).toString("latin1");
    const parsed = parseRfc3339(text);
    const expected = slowly(text);
    must(parsed === expected, `${JSON.stringify(text)} is ${parsed}, the twin says ${expected}`);
    if (parsed === undefined) return -1 - Math.min(42, text.length);
    const formatted = formatRfc3339(parsed);
    const inYears = formatted.length === 24 && parsed >= -62_167_219_200_000 && parsed < 253_402_300_800_000;
    if (inYears) must(parseRfc3339(formatted) === parsed, `${formatted} does not come back`);
    return text.length * 2 + (inYears ? 1 : 0);
  };
  const tokens = textTokens("Z", "z", "+00:00", "-23:59", ".", ".999", ":60", "T", " ", "-02-29", "-02-30", "0000", "9999", "24", "\n");
  return { name: "rfc3339", bytesMax: 64, tokens, write, check };
}

const two = (value: number) => String(value).padStart(2, "0");

function write(out: InputWriter, random: Random): void {
  const year = random.oneIn(4) ? random.below(10_000) : random.between(2020, 2030);
  const date = `${String(year).padStart(4, "0")}-${two(random.between(1, 12))}-${two(random.between(1, 31))}`;
  const time = `${two(random.below(24))}:${two(random.below(60))}:${two(random.below(61))}`;
  const fraction = random.oneIn(2) ? "" : `.${String(random.next()).slice(0, random.between(1, 9))}`;
  const offset = random.oneIn(2) ? "Z" : `${random.pick(["+", "-"])}${two(random.below(25))}:${two(random.below(61))}`;
  out.text(date + random.pick(["T", "t", " "]) + time + fraction + offset);
}
