// Gates of a verdict or a decision as a row keeps them: their count, then each
//
//   name word (verdict-codec.ts), with 128 added where the gate held, which is all; else form u8: 1 = passed, 2 * (how the value is written, VALUE_*),
//   {value number}, limit number
import { MINUTE_MS } from "../../core/time/durations.ts";
import type { ByteReader } from "../codec/byte-reader.ts";
import type { ByteWriter } from "../codec/byte-writer.ts";
import { readNumber, writeNumber } from "../codec/packed-number.ts";
import type { GateResult } from "../detection/gates/gate-result.ts";
import { readWordOf, wordNumber, writeWord } from "./verdict-codec.ts";

/** Passed, 1 against 1. */
const SATISFIED = 128;
/** Encoding of a value; part of the format. */
const VALUE_NUMBER = 0;
const VALUE_Z = 1;
const VALUE_MAGNITUDE = 2;
const VALUE_COUNT = 3;
/** Minutes that are a whole number of milliseconds. */
const VALUE_MINUTES = 4;

/** Values that a gate often repeats: the z that was judged, and of how many values. */
export interface GateSubject {
  readonly z: number;
  readonly n: number;
}

export function writeGates(writer: ByteWriter, gates: readonly GateResult[], of: GateSubject): void {
  writer.varint(gates.length);
  for (const gate of gates) writeGate(writer, gate, of);
}

export function readGates<Gate extends GateResult>(reader: ByteReader, of: GateSubject): Gate[] {
  const gates: Gate[] = [];
  for (let count = reader.varint(); count > 0; count--) gates.push(readGate(reader, of) as Gate);
  return gates;
}

export function writeGate(writer: ByteWriter, { name, passed, value, limit }: GateResult, of: GateSubject): void {
  const word = wordNumber(name);
  if (passed && value === 1 && limit === 1 && word > 0) {
    writer.u8(SATISFIED + word);
    return;
  }
  writeWord(writer, name);
  const how = howOf(value, of);
  writer.u8((passed ? 1 : 0) + 2 * how);
  if (how === VALUE_NUMBER) writeNumber(writer, value);
  if (how === VALUE_MINUTES) writeNumber(writer, Math.round(value * MINUTE_MS));
  writeNumber(writer, limit);
}

export function readGate(reader: ByteReader, of: GateSubject): GateResult {
  const word = reader.u8();
  if (word > SATISFIED) return { name: readWordOf(reader, word - SATISFIED), passed: true, value: 1, limit: 1 };
  const name = readWordOf(reader, word);
  const form = reader.u8();
  return { name, passed: (form & 1) === 1, value: readValue(reader, form >> 1, of), limit: readNumber(reader) };
}

function howOf(value: number, { z, n }: GateSubject): number {
  if (Object.is(value, z)) return VALUE_Z;
  if (Object.is(value, Math.abs(z))) return VALUE_MAGNITUDE;
  if (Object.is(value, n)) return VALUE_COUNT;
  const milliseconds = Math.round(value * MINUTE_MS);
  return !Number.isInteger(value) && Object.is(milliseconds / MINUTE_MS, value) ? VALUE_MINUTES : VALUE_NUMBER;
}

function readValue(reader: ByteReader, how: number, { z, n }: GateSubject): number {
  switch (how) {
    case VALUE_NUMBER:
      return readNumber(reader);
    case VALUE_Z:
      return z;
    case VALUE_MAGNITUDE:
      return Math.abs(z);
    case VALUE_COUNT:
      return n;
    case VALUE_MINUTES:
      return readNumber(reader) / MINUTE_MS;
    default:
      return reader.fail();
  }
}
