// The spelling of a record's stream: the bytes of service, metric and attributes as they were sent, without the white space between them. The key
// table knows streams of JSON records by its hash; one stream may have several spellings, by the order of its attributes for example.
// {mark u8, service bytes u24, metric bytes u32, service, metric, attributes}; no attributes are spelled {}. Sketch: 25 ns for 120 bytes.
import { SCRATCH, SCRATCH_BYTES } from "../../../../core/layout/memory-map";
import { hashOfKey } from "../hash/identity-hash";
import { closingQuote, escapedStrings, objectEnd, QUOTE, spaceRuns } from "./json-text";

/** Spellings are put together in the upper half of SCRATCH; nothing is kept there between calls. */
const SPELLING: usize = SCRATCH + SCRATCH_BYTES / 2;
/**
 * Longer ones are not hashed. The text of decoded attributes may be longer than their spelling (the four bytes of 1e20 become 21), but at this length
 * never so long that a limit on whole identities in json-decoder.ts would tell records of one spelling apart.
 */
const SPELLING_BYTES_MAX: usize = 4096;
const HEAD_BYTES: usize = 8;
/** No label span of remote-write and no key of json-decoder.ts begins with it. */
const MARK: u64 = 0x4a;
const NO_ATTRIBUTES: u16 = 0x7d7b;

let service: usize = 0;
let serviceBytes: usize = 0;
let metric: usize = 0;
let metricBytes: usize = 0;
let attributes: usize = 0;
let attributesBytes: usize = 0;
let isSpaced: bool = false;

/** Strings of the spelling that have an escape. */
export let escapesSpelled: u32 = 0;

/** Starts the spelling of the next record. */
// @ts-ignore
@inline
export function beginSpelling(): void {
  attributesBytes = 0;
  escapesSpelled = 0;
}

/** The service is the string whose content begins here; answers the position of its closing quote, or 0. */
// @ts-ignore
@inline
export function spellService(content: usize): usize {
  const escapedBefore = escapedStrings;
  const end = closingQuote(content);
  service = content;
  serviceBytes = end - content;
  escapesSpelled += escapedStrings - escapedBefore;
  return end;
}

/** The metric, likewise. */
// @ts-ignore
@inline
export function spellMetric(content: usize): usize {
  const escapedBefore = escapedStrings;
  const end = closingQuote(content);
  metric = content;
  metricBytes = end - content;
  escapesSpelled += escapedStrings - escapedBefore;
  return end;
}

/** The attributes are the object whose bracket stands here; answers the position behind it, or 0. */
// @ts-ignore
@inline
export function spellAttributes(p: usize, depth: i32): usize {
  const escapedBefore = escapedStrings, spacesBefore = spaceRuns;
  const end = objectEnd(p, depth);
  attributes = p;
  attributesBytes = end - p;
  isSpaced = spaceRuns != spacesBefore;
  escapesSpelled += escapedStrings - escapedBefore;
  return end;
}

/** Hashes the spelling, with the seed of keys; false when it is too long. Service and metric must have been spelled. */
// @ts-ignore
@inline
export function hashSpelling(tenant: u32): bool {
  if (serviceBytes + metricBytes + attributesBytes > SPELLING_BYTES_MAX) return false;
  store<u64>(SPELLING, MARK | (<u64>serviceBytes << 8) | (<u64>metricBytes << 32));
  let end = copySpan(SPELLING + HEAD_BYTES, service, serviceBytes);
  end = copySpan(end, metric, metricBytes);
  if (attributesBytes == 0) {
    store<u16>(end, NO_ATTRIBUTES);
    end += 2;
  } else {
    end = isSpaced ? copyWithoutSpace(end, attributes, attributesBytes) : copySpan(end, attributes, attributesBytes);
  }
  hashOfKey(SPELLING, <u32>(end - SPELLING), tenant);
  return true;
}

/** Copies in steps of 16 bytes, so that up to 15 bytes behind the copy change too; answers the copy's end. */
// @ts-ignore
@inline
function copySpan(to: usize, from: usize, bytes: usize): usize {
  for (let done: usize = 0; done < bytes; done += 16) v128.store(to + done, v128.load(from + done));
  return to + bytes;
}

/** Copies JSON without the white space outside strings; answers the copy's end. */
function copyWithoutSpace(to: usize, from: usize, bytes: usize): usize {
  const end = from + bytes;
  while (from < end) {
    const byte: u32 = load<u8>(from);
    if (byte == QUOTE) {
      const stringBytes = closingQuote(from + 1) + 1 - from;
      to = copySpan(to, from, stringBytes);
      from += stringBytes;
    } else {
      if (byte > 0x20) store<u8>(to++, byte);
      from++;
    }
  }
  return to;
}
