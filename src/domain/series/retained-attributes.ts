// Attributes of a log, an event, a span or a resource as they are kept: what is too long is cut, what is too much is dropped, and both are counted. They describe; those of
// a metric's point are its identity, so such a point is refused instead (longValue() says of which value). A list or a map counts whole, as JSON.
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import { RECORD_ATTRIBUTES_BYTES_MAX } from "../../core/config/body-limits.ts";
import { ATTRIBUTES_MAX, VALUE_BYTES_MAX } from "../../core/config/limits.ts";
import type { Attributes, AttributeValue } from "../../core/protocol/coordinator-frame.ts";
import { isLongerThan, utf8Bytes } from "../../core/text/utf8.ts";
import { cutMark, cutText } from "./cut-text.ts";

/** Attributes that did not come through whole. */
export interface AttributeLoss {
  /** Values that were cut. */
  readonly cut: number;
  /** Attributes that were left out here. */
  readonly dropped: number;
}

/** Nothing was lost. */
export const NO_LOSS: AttributeLoss = Object.freeze({ cut: 0, dropped: 0 });
/** The attribute that says how many others are missing: those that the sender dropped, and those that were dropped here. */
const DROPPED_COUNT = "dropped_attributes_count";

/** A mark, with its quotes as JSON, has fewer bytes. */
const MARK_BYTES_MAX = 64;
/** Bytes that a character takes in JSON at most, for each of its own: "\u0000". */
const ESCAPE_RATIO_MAX = 6;

type Mutable = { [name: string]: AttributeValue };

/** The attributes that are kept, and what was lost of them; with `count` under `countName`, of attributes that their sender had dropped and such as are dropped here, where there are any. */
export function retainedAttributes(
  input: Attributes,
  count = 0,
  { countName = DROPPED_COUNT, bytesMax = RECORD_ATTRIBUTES_BYTES_MAX } = {},
): { readonly attributes: Attributes; readonly loss: AttributeLoss } {
  if (count === 0 && isWithin(input, bytesMax)) return { attributes: input, loss: NO_LOSS };
  const attributes: Mutable = {};
  let [cut, dropped, retained, bytes] = [0, 0, 0, 0];
  for (const [name, value] of Object.entries(input)) {
    const short = cutValue(value);
    const size = sizeOf(name, short);
    if (retained === ATTRIBUTES_MAX || bytes + size > bytesMax) dropped++;
    else {
      setMember(attributes, name, short);
      retained++;
      bytes += size;
      if (short !== value) cut++;
    }
  }
  const missing = dropped + count;
  if (missing > 0) setMember(attributes, countName, missing);
  return { attributes, loss: cut + dropped === 0 ? NO_LOSS : { cut, dropped } };
}

/** Both losses together. */
export function addLoss(one: AttributeLoss, other: AttributeLoss): AttributeLoss {
  if (one === NO_LOSS) return other;
  return other === NO_LOSS ? one : { cut: one.cut + other.cut, dropped: one.dropped + other.dropped };
}

/** Whether a value has more bytes than an attribute may have. */
export function isLongValue(value: unknown): boolean {
  if (typeof value === "string") return isLongerThan(value, VALUE_BYTES_MAX);
  return typeof value === "object" && value !== null && isLongerThan(JSON.stringify(value), VALUE_BYTES_MAX);
}

function isWithin(input: Attributes, bytesMax: number): boolean {
  let [count, bytes] = [0, 0];
  for (const name in input) {
    const value = ownMember(input, name) as AttributeValue;
    count++;
    if (isLongValue(value)) return false;
    bytes += sizeOf(name, value);
  }
  return count <= ATTRIBUTES_MAX && bytes <= bytesMax;
}

/** Bytes of an attribute as JSON; of a text as if each character were one, and up to six, so that the usual short ones need not be looked at. */
function sizeOf(name: string, value: AttributeValue): number {
  const text = typeof value === "string" ? value.length : typeof value === "object" && value !== null ? JSON.stringify(value).length : 24;
  return name.length + text;
}

function cutValue(value: AttributeValue): AttributeValue {
  if (!isLongValue(value)) return value;
  return typeof value === "string" ? cutText(value, VALUE_BYTES_MAX) : cutWithin(value, VALUE_BYTES_MAX);
}

const jsonBytes = (value: AttributeValue): number => utf8Bytes(JSON.stringify(value));

/** A value of more than `room` bytes as JSON, cut so that it has no more: a text at a character, a list or a map behind what finds room. */
function cutWithin(value: AttributeValue, bytesMax: number): AttributeValue {
  if (typeof value === "string") return cutText(value, Math.max(MARK_BYTES_MAX, Math.floor((bytesMax - 2) / escapeRatio(value))));
  if (Array.isArray(value)) {
    const list: AttributeValue[] = [];
    fill(
      value.entries(),
      bytesMax,
      () => 1,
      (_, each) => list.push(each),
    );
    return [...list, cutMark(jsonBytes(value))];
  }
  const map: Mutable = {};
  fill(
    Object.entries(value as Attributes),
    bytesMax,
    (name) => jsonBytes(name) + 2,
    (name, each) => setMember(map, name, each),
  );
  setMember(map, "…", cutMark(jsonBytes(value)));
  return map;
}

/** Bytes of a text as JSON for each of its own: 1, or what the worst character takes. */
function escapeRatio(text: string): number {
  return jsonBytes(text) <= utf8Bytes(text) + 2 ? 1 : ESCAPE_RATIO_MAX;
}

/** Takes the members that find room, and of the first that does not what does. */
function fill<Name>(
  members: Iterable<readonly [Name, AttributeValue]>,
  bytesMax: number,
  nameBytes: (name: Name) => number,
  take: (name: Name, value: AttributeValue) => void,
): void {
  let left = bytesMax - 2 * MARK_BYTES_MAX;
  for (const [name, value] of members) {
    const beside = nameBytes(name);
    const size = beside + jsonBytes(value);
    if (size <= left) take(name, value);
    else if (left - beside > 2 * MARK_BYTES_MAX && (typeof value === "string" || typeof value === "object"))
      take(name, cutWithin(value, left - beside));
    left -= size;
    if (left <= 0) return;
  }
}
