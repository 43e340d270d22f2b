// Counts of accepted events, as blocks of the log hold them. Damaged ones are an error; what is read is what its sums, written again, hold.
import { RECORD_TYPES } from "../../../src/core/layout/counters.ts";
import { decodeUsage, UsageTally } from "../../../src/domain/access/usage-tally.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must } from "../target.ts";

const BYTES_MAX = 512;
const DAMAGED = /end early/;
const TENANTS = ["default", "a", "acme", "ü", "", "z".repeat(63)];

export function usageTarget(): FuzzTarget {
  return { name: "usage", bytesMax: BYTES_MAX, tokens: [Uint8Array.from([0x01, 0x61]), Uint8Array.from([0xff, 0xff])], write, check };
}

function check(input: Uint8Array): number {
  const tally = new UsageTally();
  let entries = 0;
  try {
    for (const usage of decodeUsage(input)) {
      // Beyond what doubles hold exactly nothing is written.
      if ([usage.month, ...usage.counts].some((number) => number > Number.MAX_SAFE_INTEGER / BYTES_MAX)) return -2;
      tally.addAll([usage]);
      entries++;
    }
  } catch (error) {
    must(error instanceof Error && DAMAGED.test(error.message), `damage is told as ${String(error)}`);
    return -1;
  }
  must(JSON.stringify([...decodeUsage(tally.encode())]) === JSON.stringify(tally.entries), "what is written is not what is read");
  return magnitude(entries) * 16 + magnitude(input.length);
}

function write(out: InputWriter, random: Random): void {
  for (let entries = random.between(0, 6); entries > 0; entries--) {
    out.prefixed(() => out.text(random.pick(TENANTS))).varint(24_312 + random.below(3));
    for (let type = 0; type < RECORD_TYPES.length; type++) out.varint(random.oneIn(2) ? 0 : random.next());
  }
}
