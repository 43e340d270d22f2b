// Fields that the rows of anomalies, alerts and decisions have in common.

import type { PageOutcome } from "../../domain/anomaly/page-outcome.ts";
import { TEXT_BYTES_MAX } from "../../domain/anomaly/verdict-codec.ts";
import type { ByteReader } from "../../domain/codec/byte-reader.ts";
import type { Tier } from "../../domain/detection/anomaly-score.ts";
import { ID_BYTES } from "./tables.ts";

/** Part of the formats, both. */
const TIERS: readonly Tier[] = ["low", "medium", "high"];
const OUTCOMES: readonly PageOutcome[] = ["paged", "absorbed", "suppressed", "logged", "resolved"];

const TIER_BITS = 2;

/** An id: 1 and its 16 bytes where it has 32 hex digits, as all that the service makes have; else 0 and text. */
export function readId(reader: ByteReader): string {
  return reader.u8() === 1 ? reader.hex(ID_BYTES) : reader.text(TEXT_BYTES_MAX);
}

export function readTier(reader: ByteReader): Tier {
  return TIERS[reader.u8()] ?? reader.fail();
}

/** Five bits of a byte whose others are the caller's: {outcome 3 bits, tier 2 bits}. */
export function tierAndOutcome(tier: Tier, outcome: PageOutcome): number {
  return TIERS.indexOf(tier) | (OUTCOMES.indexOf(outcome) << TIER_BITS);
}

export function tierOf(reader: ByteReader, head: number): Tier {
  return TIERS[head & 3] ?? reader.fail();
}

export function outcomeOf(reader: ByteReader, head: number): PageOutcome {
  return OUTCOMES[(head >> TIER_BITS) & 7] ?? reader.fail();
}

/** 0 for null, else 1 and the text. */
export function readOptionalText(reader: ByteReader): string | null {
  return reader.u8() === 0 ? null : reader.text(TEXT_BYTES_MAX);
}

/** 0 for null, else 1 and the double. */
export function readOptionalNumber(reader: ByteReader): number | null {
  return reader.u8() === 0 ? null : reader.double();
}

/** So many of what `read` gives, behind their count. */
export function readList<T>(reader: ByteReader, read: () => T): T[] {
  const list: T[] = [];
  for (let count = reader.varint(); count > 0; count--) list.push(read());
  return list;
}
