// Sums of calls between services, by minute, and their bytes:
//
//   version u8 = 2, then for each edge {caller varint: 0 = a new name, whose tenant, environment and service follow as texts, else its number from 1 on; callee the
//   same; zigzag of minute - the minute before varint; calls varint; errors varint; microseconds varint; gap calls varint; gap microseconds varint}
//   version 1 has no gaps
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import { unzigzag, zigzag } from "../codec/varint.ts";
import { readServiceName, type ServiceName } from "../window/window-message.ts";

const VERSION = 2;
const VERSION_WITHOUT_GAPS = 1;
/** A sum stays here, as near to what it would be as numbers are exact; no minute has so many calls, or microseconds in them. */
const SUM_MAX = 2 ** 52;
/** Minutes are below this: any two of them have a difference that a varint holds. */
const MINUTES_MAX = 2 ** 48;

/** Sums over calls. Of some of them the caller's own span is known: what it took beyond the called one's is the gap. */
export interface CallTotals {
  readonly calls: number;
  readonly errors: number;
  readonly microseconds: number;
  readonly gapCalls: number;
  readonly gapMicroseconds: number;
}

export const NO_CALLS: CallTotals = { calls: 0, errors: 0, microseconds: 0, gapCalls: 0, gapMicroseconds: 0 };

/** Calls from one service to another that ended in one minute (since 1970). Sums are whole, so their order does not matter. */
export interface CallEdge extends CallTotals {
  readonly caller: ServiceName;
  readonly callee: ServiceName;
  readonly minute: number;
}

/** The same with texts of `serviceText` for the services. */
export interface CallSum extends Mutable<CallTotals> {
  readonly caller: string;
  readonly callee: string;
  readonly minute: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** One text for a service: equal for equal names. */
export function serviceText({ tenant, environment, serviceId }: ServiceName): string {
  return JSON.stringify([tenant, environment, serviceId]);
}

function serviceName(text: string): ServiceName {
  const [tenant, environment, serviceId] = JSON.parse(text) as [string, string, string];
  return { tenant, environment, serviceId };
}

/** Edges under way. Services are texts of `serviceText`. */
export class CallEdges {
  readonly #sums = new Map<string, CallSum>();
  readonly #edgesMax: number;
  /** Calls of edges beyond the bound. */
  dropped = 0;

  constructor(edgesMax: number) {
    this.#edgesMax = edgesMax;
  }

  get size(): number {
    return this.#sums.size;
  }

  add(caller: string, callee: string, minute: number, totals: CallTotals): void {
    const key = `${minute}${caller}${callee}`;
    const sum = this.#sums.get(key);
    if (sum !== undefined) addTotals(sum, totals);
    else if (this.#sums.size < this.#edgesMax) this.#sums.set(key, { caller, callee, minute, ...totalsOf(totals) });
    else this.dropped += totals.calls;
  }

  /** Adds edges that were written, all of them or none. Throws on bytes that are none. */
  addEncoded(bytes: Uint8Array): void {
    for (const edge of decodeCallEdges(bytes)) this.addEdge(edge);
  }

  addEdge(edge: CallEdge): void {
    this.add(serviceText(edge.caller), serviceText(edge.callee), edge.minute, edge);
  }

  *[Symbol.iterator](): Generator<CallEdge> {
    for (const sum of this.#sums.values()) yield { ...sum, caller: serviceName(sum.caller), callee: serviceName(sum.callee) };
  }

  encode(): Uint8Array {
    return encodeCalls(this.#sums.values());
  }
}

/** Adds calls to a sum, which stays within what numbers are exact for. */
export function addTotals(sum: Mutable<CallTotals>, { calls, errors, microseconds, gapCalls, gapMicroseconds }: CallTotals): void {
  sum.calls = Math.min(SUM_MAX, sum.calls + calls);
  sum.errors = Math.min(SUM_MAX, sum.errors + errors);
  sum.microseconds = Math.min(SUM_MAX, sum.microseconds + microseconds);
  sum.gapCalls = Math.min(SUM_MAX, sum.gapCalls + gapCalls);
  sum.gapMicroseconds = Math.min(SUM_MAX, sum.gapMicroseconds + gapMicroseconds);
}

function totalsOf({ calls, errors, microseconds, gapCalls, gapMicroseconds }: CallTotals): CallTotals {
  return { calls, errors, microseconds, gapCalls, gapMicroseconds };
}

/** Writes edges. */
export function encodeCalls(sums: Iterable<Readonly<CallSum>>): Uint8Array {
  const writer = new ByteWriter(256);
  const names = new Map<string, number>();
  writer.u8(VERSION);
  let before = 0;
  for (const { caller, callee, minute, calls, errors, microseconds, gapCalls, gapMicroseconds } of sums) {
    writeName(writer, names, caller);
    writeName(writer, names, callee);
    writer.varint(zigzag(minute - before));
    writer.varint(calls);
    writer.varint(errors);
    writer.varint(microseconds);
    writer.varint(gapCalls);
    writer.varint(gapMicroseconds);
    before = minute;
  }
  return writer.bytes.slice(0, writer.at);
}

function writeName(writer: ByteWriter, names: Map<string, number>, text: string): void {
  const known = names.get(text);
  if (known !== undefined) {
    writer.varint(known);
    return;
  }
  names.set(text, names.size + 1);
  writer.varint(0);
  for (const part of JSON.parse(text) as string[]) writer.text(part);
}

/** Reads edges. Throws on another version and on bytes that are no edges. */
export function decodeCallEdges(bytes: Uint8Array): CallEdge[] {
  const version = bytes[0];
  if (version !== VERSION && version !== VERSION_WITHOUT_GAPS)
    throw new Error(`calls have version ${version}, this program reads ${VERSION_WITHOUT_GAPS} and ${VERSION}`);
  const reader = new ByteReader(bytes, "stored calls are damaged", 1);
  const names: ServiceName[] = [];
  const edges: CallEdge[] = [];
  let minute = 0;
  while (!reader.isAtEnd) {
    const caller = readName(reader, names);
    const callee = readName(reader, names);
    minute += unzigzag(reader.varint());
    if (minute < 0 || minute >= MINUTES_MAX) reader.fail();
    const timed = { calls: readSum(reader), errors: readSum(reader), microseconds: readSum(reader) };
    const gaps =
      version === VERSION ? { gapCalls: readSum(reader), gapMicroseconds: readSum(reader) } : { gapCalls: 0, gapMicroseconds: 0 };
    edges.push({ caller, callee, minute, ...timed, ...gaps });
  }
  return edges;
}

function readSum(reader: ByteReader): number {
  const sum = reader.varint();
  return sum <= SUM_MAX ? sum : reader.fail();
}

function readName(reader: ByteReader, names: ServiceName[]): ServiceName {
  const known = reader.varint();
  if (known > 0) return names[known - 1] ?? reader.fail();
  const name = readServiceName(reader);
  names.push(name);
  return name;
}
