// The shard's side of traces: spans that wait for their other half, and the calls found since the partition's last checkpoint. The calls go to the
// coordinator as sums that replace each other until a checkpoint seals them (domain/trace/call-edges.ts). A held span is written as
//
//   kind u8 = 4, then {service varint: 0 = new, tenant, environment, service texts; flags u8; key u32 u32; arrival in seconds since 2020 varint;
//   of one that waits: parent's key u32 u32, minute varint, microseconds varint; of a client's that does not wait: microseconds varint} ...
import { ByteMap } from "../../../core/collections/byte-map.ts";
import { HANDLER_PIECE_BYTES, JOIN_MS_MAX, JOIN_SERVICES_MAX, JOIN_SPANS_MAX } from "../../../core/config/limits.ts";
import { ShareLedger } from "../../../core/fairness/share-ledger.ts";
import { PARTITIONS } from "../../../core/layout/memory-map.ts";
import { CALLS_HEADER_BYTES, FRAME_CALLS } from "../../../core/protocol/coordinator-frame.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { ByteReader } from "../../../domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../domain/codec/byte-writer.ts";
import { encodeCalls, serviceText } from "../../../domain/trace/call-edges.ts";
import { CallSums } from "../../../domain/trace/call-sums.ts";
import { JoinBatch } from "../../../domain/trace/join-batch.ts";
import { JOIN_CHILD, JOIN_CLIENT, JOIN_PEER, JoinMessageReader } from "../../../domain/trace/join-message.ts";
import { NO_OPERATION, type OperationTimes } from "../../../domain/trace/operation-times.ts";
import { TraceJoin } from "../../../domain/trace/trace-join.ts";
import { readServiceName, type ServiceName } from "../../../domain/window/window-message.ts";
import { MINUTES_RETAINED } from "../../../domain/window/window-time.ts";
import type { EngineCounters } from "../report/engine-counters.ts";

export const PIECE_PENDING = 4;
/** Bit of the stored flags: the span waits for its parent. */
const WAITS_FLAG = 4;
const SECONDS_2020 = 1_577_836_800;
/** Sums of a partition are sent this often while they change. */
const SENT_EVERY_MS = 2_000;

export interface SpanJoinsDependencies {
  readonly counters: Pick<EngineCounters, "add" | "set">;
  /** Who holds how many of the services whose traces are joined. */
  readonly services: ShareLedger;
  /** Places that each partition has for edges of calls; counts those of all partitions. */
  readonly edges: ShareLedger;
  /** Own time of spans. */
  readonly times: OperationTimes;
  readonly send: (kind: number, payload: Uint8Array) => void;
  /** Number of the partition's newest checkpoint. */
  readonly generation: (partition: number) => number;
}

/** Traces of one partition. */
interface JoinedPartition {
  readonly join: TraceJoin;
  calls: CallSums;
  /** Who holds how many edges of them. */
  readonly shares: ShareLedger;
  /** Whether sums have changed since they were sent, and when that was. */
  isChanged: boolean;
  sentMs: number;
  /** The checkpoint that the sums began behind; -1 before the first call. */
  since: number;
}

/** Traces of all partitions of one engine. */
export class SpanJoins {
  readonly #dependencies: SpanJoinsDependencies;
  readonly #partitions: Array<JoinedPartition | undefined> = Array.from({ length: PARTITIONS });
  /** Texts of services by number, and numbers by text. */
  readonly #names: string[] = [];
  readonly #services: ServiceName[] = [];
  readonly #numbers = new Map<string, number>();
  /** The same by the bytes that messages name them with: names that are no UTF-8 in two ways are one service. */
  readonly #numbersByKey = new ByteMap<number>(JOIN_SERVICES_MAX);
  readonly #batch = new JoinBatch();
  /** Calls of the message at hand. */
  #joined = 0;
  #dropped = 0;

  constructor(dependencies: SpanJoinsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes the spans of one message, which arrived at a wall time. */
  take(partition: number, payload: Uint8Array, arrivalWallMs: number): void {
    const { join } = this.#partition(partition);
    const { times } = this.#dependencies;
    const reader = new JoinMessageReader(payload);
    const services: number[] = [];
    const batch = this.#batch;
    const seconds = Math.floor(arrivalWallMs / 1000);
    const arrivalMinute = Math.floor(arrivalWallMs / MINUTE_MS);
    const evictions = join.evictions;
    join.expire(seconds - JOIN_MS_MAX / 1000);
    batch.count = 0;
    while (reader.next()) {
      if (reader.isNewService)
        services.push(this.#numberOf(reader, reader.nameFrom, reader.nameTo, () => reader.newService as ServiceName));
      if (reader.isNewPeer)
        services.push(this.#numberOf(reader, reader.peerNameFrom, reader.peerNameTo, () => reader.newPeer as ServiceName));
      const service = services[reader.service - 1] as number;
      if (service < 0) continue;
      const { high, low, parentHigh, parentLow, minute, microseconds, operation: hash } = reader;
      const peer = reader.peer === 0 ? NO_OPERATION : (services[reader.peer - 1] as number);
      const flags = peer < 0 ? reader.flags & ~JOIN_PEER : reader.flags;
      const operation = reader.hasOperation && peer < 0 ? times.number(service, this.#services[service]!, hash, arrivalMinute) : peer;
      batch.push(service, flags, high, low, parentHigh, parentLow, minute, microseconds, operation);
    }
    join.addBatch(batch, seconds);
    this.#account(join.evictions - evictions);
  }

  #account(evictions: number): void {
    const { counters } = this.#dependencies;
    if (this.#joined > 0) counters.add("callsJoined", this.#joined);
    if (this.#dropped > 0) counters.add("callsDropped", this.#dropped);
    if (evictions > 0) counters.add("spansForgotten", evictions);
    this.#joined = 0;
    this.#dropped = 0;
  }

  #partition(number: number): JoinedPartition {
    let partition = this.#partitions[number];
    if (partition === undefined) {
      const { edges, times } = this.#dependencies;
      const join = new TraceJoin(
        JOIN_SPANS_MAX,
        (caller, callee, minute, us, isError, gapUs) => this.#count(number, caller, callee, minute, us, isError, gapUs),
        (operation, minute, us) => times.add(operation, minute, us),
      );
      const shares = new ShareLedger({ most: edges.most, tenants: () => edges.places.tenants });
      partition = { join, shares, calls: this.#newSums(shares), isChanged: false, sentMs: 0, since: -1 };
      this.#partitions[number] = partition;
    }
    return partition;
  }

  /** Sums whose edges are shared by tenants, each partition's for itself. */
  #newSums(shares: ShareLedger): CallSums {
    const { edges } = this.#dependencies;
    for (const tenant of shares.tenants) edges.give(tenant, shares.used(tenant));
    shares.clear();
    return new CallSums((caller) => {
      const { tenant } = this.#services[caller] as ServiceName;
      const isTaken = shares.take(tenant);
      if (isTaken) edges.add(tenant);
      else edges.refuse(tenant);
      return isTaken;
    }, this.#names);
  }

  /** Number of the service that a message names for the first time; -1 where there are too many. */
  #numberOf({ dataView }: JoinMessageReader, from: number, to: number, read: () => ServiceName): number {
    const known = this.#numbersByKey.find(dataView, from, to - from);
    if (known !== undefined) return known;
    const number = this.#number(read());
    if (number >= 0) this.#numbersByKey.add(dataView, from, to - from, number);
    return number;
  }

  /** Number of a service, -1 where there are too many. */
  #number(name: ServiceName, isRestored = false): number {
    const { services, counters } = this.#dependencies;
    const text = serviceText(name);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (isRestored) services.add(name.tenant);
    else if (!services.take(name.tenant)) {
      counters.add("callsDropped", 1);
      return -1;
    }
    this.#numbers.set(text, this.#names.length);
    this.#services.push(name);
    return this.#names.push(text) - 1;
  }

  #count(number: number, caller: number, callee: number, minute: number, us: number, isError: boolean, gapUs: number): void {
    const partition = this.#partitions[number] as JoinedPartition;
    if (partition.since < 0) partition.since = this.#dependencies.generation(number);
    partition.isChanged = true;
    if (partition.calls.add(caller, callee, minute, isError, us, gapUs)) this.#joined++;
    else this.#dropped++;
  }

  /** Tells self times, forgets what is too old, and sends sums that have changed. */
  onInterval(wallMs: number): void {
    let pendingSpans = 0;
    this.#partitions.forEach((partition, number) => {
      if (partition === undefined) return;
      partition.join.reportSelfTimes(Math.floor(wallMs / 1000));
      partition.join.expire(Math.floor((wallMs - JOIN_MS_MAX) / 1000));
      pendingSpans += partition.join.size;
      if (partition.isChanged && Math.abs(wallMs - partition.sentMs) >= SENT_EVERY_MS) this.#send(number, partition, wallMs);
    });
    this.#account(0);
    this.#dependencies.times.expire(Math.floor(wallMs / MINUTE_MS) - MINUTES_RETAINED);
    this.#dependencies.counters.set("spansHeld", pendingSpans);
  }

  #send(number: number, partition: JoinedPartition, wallMs: number): void {
    const edges = encodeCalls(partition.calls.values());
    const frame = new Uint8Array(CALLS_HEADER_BYTES + edges.length);
    const view = new DataView(frame.buffer);
    view.setUint32(0, number, true);
    view.setUint32(4, partition.since, true);
    frame.set(edges, CALLS_HEADER_BYTES);
    this.#dependencies.send(FRAME_CALLS, frame);
    partition.isChanged = false;
    partition.sentMs = wallMs;
  }

  /** Seals the sums, which the checkpoint at hand covers, and answers with the held spans. */
  save(number: number): Uint8Array[] {
    const partition = this.#partitions[number];
    if (partition === undefined) return [];
    if (partition.isChanged) this.#send(number, partition, partition.sentMs);
    partition.calls = this.#newSums(partition.shares);
    partition.since = -1;
    return pendingPieces(partition.join, this.#names);
  }

  restore(number: number, piece: Uint8Array): void {
    const { join } = this.#partition(number);
    const reader = new ByteReader(piece, "a checkpoint holds spans that this build cannot read", 1);
    const numbers: number[] = [];
    while (!reader.isAtEnd) {
      const known = reader.varint();
      if (known === 0) numbers.push(this.#number(readServiceName(reader), true));
      const service = (known === 0 ? numbers.at(-1) : numbers[known - 1]) ?? reader.fail();
      const flags = reader.u8();
      const waits = (flags & WAITS_FLAG) !== 0;
      const key = { service, flags: flags & ~WAITS_FLAG, high: reader.u32(), low: reader.u32() };
      const seconds = SECONDS_2020 + reader.varint();
      const parent = waits
        ? { parentHigh: reader.u32(), parentLow: reader.u32(), minute: reader.varint(), microseconds: reader.varint() }
        : { parentHigh: 0, parentLow: 0, minute: 0, microseconds: (flags & JOIN_CLIENT) === 0 ? 0 : reader.varint() };
      if (service >= 0) join.restore({ ...key, ...parent, operation: NO_OPERATION }, seconds, waits);
    }
  }
}

function pendingPieces(join: TraceJoin, texts: readonly string[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const names = new Map<number, number>();
  const writer = new ByteWriter(1024);
  const end = () => {
    pieces.push(writer.bytes.slice(0, writer.at));
    writer.at = 0;
    names.clear();
  };
  join.forEach(({ service, flags, high, low, parentHigh, parentLow, minute, microseconds }, seconds, waits) => {
    if (writer.at === 0) writer.u8(PIECE_PENDING);
    const known = names.get(service) ?? 0;
    writer.varint(known);
    if (known === 0) {
      names.set(service, names.size + 1);
      for (const part of JSON.parse(texts[service] as string) as string[]) writer.text(part);
    }
    writer.u8((flags & ~JOIN_CHILD) | (waits ? JOIN_CHILD | WAITS_FLAG : 0));
    writer.u32(high);
    writer.u32(low);
    writer.varint(Math.max(0, seconds - SECONDS_2020));
    if (waits) {
      writer.u32(parentHigh);
      writer.u32(parentLow);
      writer.varint(minute);
      writer.varint(microseconds);
    } else if ((flags & JOIN_CLIENT) !== 0) writer.varint(microseconds);
    if (writer.at > HANDLER_PIECE_BYTES) end();
  });
  if (writer.at > 0) end();
  return pieces;
}
