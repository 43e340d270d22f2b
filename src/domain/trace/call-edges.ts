// Sums of calls between services, by minute, and their bytes:
//
//   version u8 = 1, then for each edge {caller varint: 0 = a new name, whose tenant, environment and service follow as texts, else its number from 1 on; callee the
//   same; zigzag of minute - the minute before varint; calls varint; errors varint; microseconds varint}
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteSink } from "../codec/byte-sink.ts";
import { unzigzag, zigzag } from "../codec/varint.ts";
import { readServiceName, type ServiceName } from "../window/window-message.ts";

const VERSION = 1;
/** A sum stays here, as near to what it would be as numbers are exact; no minute has so many calls, or microseconds in them. */
const SUM_MAX = 2 ** 52;
/** Minutes are below this: any two of them have a difference that a varint holds. */
const MINUTES_MAX = 2 ** 48;

/** Calls from one service to another that ended in one minute (since 1970). Sums are whole, so their order does not matter. */
export interface CallEdge {
  readonly caller: ServiceName;
  readonly callee: ServiceName;
  readonly minute: number;
  readonly calls: number;
  readonly errors: number;
  readonly microseconds: number;
}

/** The same with texts of `serviceText` for the services. */
export interface CallSum {
  readonly caller: string;
  readonly callee: string;
  readonly minute: number;
  calls: number;
  errors: number;
  microseconds: number;
}

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

  add(caller: string, callee: string, minute: number, calls: number, errors: number, microseconds: number): void {
    const key = `${minute}${caller}${callee}`;
    const sum = this.#sums.get(key);
    if (sum !== undefined) {
      sum.calls = Math.min(SUM_MAX, sum.calls + calls);
      sum.errors = Math.min(SUM_MAX, sum.errors + errors);
      sum.microseconds = Math.min(SUM_MAX, sum.microseconds + microseconds);
    } else if (this.#sums.size < this.#edgesMax) this.#sums.set(key, { caller, callee, minute, calls, errors, microseconds });
    else this.dropped += calls;
  }

  /** Adds edges that were written, all of them or none. Throws on bytes that are none. */
  addEncoded(bytes: Uint8Array): void {
    for (const edge of decodeCallEdges(bytes)) this.addEdge(edge);
  }

  addEdge({ caller, callee, minute, calls, errors, microseconds }: CallEdge): void {
    this.add(serviceText(caller), serviceText(callee), minute, calls, errors, microseconds);
  }

  *[Symbol.iterator](): Generator<CallEdge> {
    for (const sum of this.#sums.values()) yield { ...sum, caller: serviceName(sum.caller), callee: serviceName(sum.callee) };
  }

  encode(): Uint8Array {
    return encodeCalls(this.#sums.values());
  }
}

/** Writes edges. */
export function encodeCalls(sums: Iterable<Readonly<CallSum>>): Uint8Array {
  const sink = new ByteSink(256);
  const names = new Map<string, number>();
  sink.u8(VERSION);
  let before = 0;
  for (const { caller, callee, minute, calls, errors, microseconds } of sums) {
    writeName(sink, names, caller);
    writeName(sink, names, callee);
    sink.varint(zigzag(minute - before));
    sink.varint(calls);
    sink.varint(errors);
    sink.varint(microseconds);
    before = minute;
  }
  return sink.bytes.slice(0, sink.at);
}

function writeName(sink: ByteSink, names: Map<string, number>, text: string): void {
  const known = names.get(text);
  if (known !== undefined) {
    sink.varint(known);
    return;
  }
  names.set(text, names.size + 1);
  sink.varint(0);
  for (const part of JSON.parse(text) as string[]) sink.text(part);
}

/** Reads edges. Throws on another version and on bytes that are no edges. */
export function decodeCallEdges(bytes: Uint8Array): CallEdge[] {
  if (bytes[0] !== VERSION) throw new Error(`calls have version ${bytes[0]}, this program reads ${VERSION}`);
  const reader = new ByteReader(bytes, "stored calls are damaged", 1);
  const names: ServiceName[] = [];
  const edges: CallEdge[] = [];
  let minute = 0;
  while (!reader.isAtEnd) {
    const caller = readName(reader, names);
    const callee = readName(reader, names);
    minute += unzigzag(reader.varint());
    if (minute < 0 || minute >= MINUTES_MAX) reader.fail();
    edges.push({ caller, callee, minute, calls: readSum(reader), errors: readSum(reader), microseconds: readSum(reader) });
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
