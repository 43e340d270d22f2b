// Engines and a shard for spans without engines: what an intake gathers goes into a log of messages, which a handler takes, and takes again after a restart.

import { SpanHandler } from "../../src/actors/engine/spans/span-handler.ts";
import { SpanIntake } from "../../src/actors/engine/spans/span-intake.ts";
import { WorkUnit } from "../../src/actors/engine/unit/work-unit.ts";
import type { EngineMemory } from "../../src/adapters/shared-memory/engine-memory.ts";
import { PARTITIONS } from "../../src/core/layout/memory-map.ts";
import { BASE_LEAD_MS } from "../../src/core/layout/row-frame.ts";
import { CALLS_HEADER_BYTES, type StreamName } from "../../src/core/protocol/coordinator-frame.ts";
import { messagesOf } from "../../src/domain/codec/shard-message.ts";
import type { IngestExports } from "../../src/domain/kernel/ingest-kernel.ts";
import type { ItemRefusal, OtlpSpan } from "../../src/domain/otlp/otlp-items.ts";
import { refuseSpan } from "../../src/domain/otlp/otlp-limits.ts";
import { sourceOf } from "../../src/domain/otlp/otlp-source.ts";
import { FieldExclusions } from "../../src/domain/series/field-exclusions.ts";
import { NO_LOSS } from "../../src/domain/series/retained-attributes.ts";
import { type CallEdge, CallEdges } from "../../src/domain/trace/call-edges.ts";
import { OperationTimes } from "../../src/domain/trace/operation-times.ts";
import { openLedger } from "./share-ledgers.ts";

/** When spans of a rig are: a span without times of its own ends 1.1 s behind it and took 100 ms. */
export const SPANS_START = Date.UTC(2026, 0, 5, 12);

/** A span by what of it matters; of the server's kind, of the first trace, without a parent where nothing is said. */
export function spanOf(
  fields: Partial<OtlpSpan> & { readonly id: number; readonly trace?: number; readonly parent?: number | undefined },
): OtlpSpan {
  const { id, trace = 1, parent, ...rest } = fields;
  return {
    serviceId: "shop",
    environment: "",
    traceId: hex(trace, 32),
    spanId: hex(id, 16),
    parentSpanId: parent === undefined ? "" : hex(parent, 16),
    name: "GET /",
    kind: 2,
    startMs: (rest.endMs ?? SPANS_START + 1_100) - 100,
    endMs: SPANS_START + 1_100,
    statusCode: 0,
    attributes: {},
    resourceAttributes: {},
    loss: NO_LOSS,
    ...rest,
  };
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** Writes derived values into a map: metric, names and time to value; the first stays the value that is scored. */
class SeriesCollector {
  readonly values = new Map<string, number>();
  readonly flags = new Map<string, number>();
  readonly arrivals: number[] = [];
  #names: string[] = [];
  writes = 0;

  write(
    stream: { readonly ref: number } | undefined,
    name: () => StreamName,
    flags: number,
    timeMs: number,
    value: number,
    arrivalMs: number,
  ): { readonly ref: number } {
    const open = stream ?? this.#open(name(), flags);
    const key = `${this.#names[open.ref]} @${timeMs}`;
    const before = this.values.get(key);
    if (before !== undefined && before !== value) throw new Error(`${key} was ${before}, is ${value}`);
    this.values.set(key, value);
    this.arrivals.push(arrivalMs);
    this.writes++;
    return open;
  }

  #open({ tenant, environment, serviceId, metricName, attributes }: StreamName, flags: number): { readonly ref: number } {
    const text = [tenant, environment, serviceId, metricName, ...Object.values(attributes)].join(" ");
    this.flags.set(text, flags);
    return { ref: this.#names.push(text) - 1 };
  }

  flush(): void {
    // Nothing waits here.
  }

  lines(): string[] {
    return [...this.values].map(([key, value]) => `${key} = ${value}`).sort();
  }
}

interface LoggedMessage {
  readonly kind: number;
  readonly partition: number;
  readonly payload: Uint8Array;
  readonly baseMs: number;
}

interface StoredPart {
  readonly generation: number;
  readonly pieces: readonly Uint8Array[];
  /** Messages of the log that it covers. */
  readonly covered: number;
}

/** Counters by name. */
class CounterMap {
  readonly values: Record<string, number> = {};

  add(name: string, by: number): void {
    this.values[name] = (this.values[name] ?? 0) + by;
  }

  set(name: string, value: number): void {
    this.values[name] = value;
  }
}

/** One engine's share of spans, and what outlives it. */
export class SpanRig {
  readonly series = new SeriesCollector();
  readonly log: LoggedMessage[] = [];
  counters = new CounterMap();
  handler: SpanHandler;
  times!: OperationTimes;
  readonly #sink = new SpanIntake(new FieldExclusions(""));
  /** By partition: the sums since each checkpoint, the checkpoint's number, its pieces, and the messages that it covers. */
  readonly #sums = new Map<string, Uint8Array>();
  readonly #generations = new Array<number>(PARTITIONS).fill(0);
  readonly #stored = Array.from({ length: PARTITIONS }, (): StoredPart => ({ generation: 0, pieces: [], covered: 0 }));
  #monotonicMs = 1_000_000;

  readonly #keepsLog: boolean;

  /** Without a log there are no restarts. */
  constructor({ keepsLog = true } = {}) {
    this.#keepsLog = keepsLog;
    this.handler = this.#makeHandler();
  }

  #makeHandler(): SpanHandler {
    this.times = new OperationTimes(openLedger());
    return new SpanHandler({
      series: this.series,
      counters: this.counters,
      send: (_, frame) => {
        const view = new DataView(frame.buffer);
        this.#sums.set(`${view.getUint32(0, true)} ${view.getUint32(4, true)}`, frame.slice(CALLS_HEADER_BYTES));
      },
      generation: (partition) => this.#generations[partition] as number,
      windowShares: { services: openLedger(), cells: openLedger(), ids: openLedger() },
      joinedServices: openLedger(),
      callEdges: openLedger(),
      times: this.times,
    });
  }

  /** Sends spans in one unit of work that begins at a wall time; answers the refusals. */
  send(spans: readonly OtlpSpan[], wallMs: number, tenant = "default"): Array<ItemRefusal | undefined> {
    const unit = new WorkUnit({} as EngineMemory, {} as IngestExports, 1);
    unit.begin(1, wallMs, this.#monotonicMs);
    const refusals = spans.map((span) => {
      const { resourceRefusal } = sourceOf({ "service.name": span.serviceId, "deployment.environment.name": span.environment });
      return refuseSpan({ ...span, resourceRefusal }, wallMs) ?? this.#sink.take(tenant, span, unit);
    });
    this.#sink.addMessages(unit);
    for (const [kind, section] of unit.messageFrames(0, Number.POSITIVE_INFINITY)) {
      for (const { partition, payload } of messagesOf(section)) {
        const message = { kind, partition, payload: new Uint8Array(payload), baseMs: wallMs - BASE_LEAD_MS };
        if (this.#keepsLog) this.log.push(message);
        this.handler.take(partition, message.payload, { baseMs: message.baseMs, arrivalMs: this.#monotonicMs });
      }
    }
    return refusals;
  }

  /** The time comes to `wallMs`: windows close that are due. */
  pass(wallMs: number): void {
    while (this.handler.dueMs <= wallMs) this.handler.due(wallMs, this.#monotonicMs);
    this.handler.onInterval(wallMs);
  }

  /** Stores a partition's checkpoint; it says that it covers `behind` messages less than it does. */
  checkpoint(partition: number, behind = 0): void {
    this.#generations[partition] = (this.#generations[partition] as number) + 1;
    const pieces = this.handler.save(partition).map((piece) => new Uint8Array(piece));
    this.#stored[partition] = {
      generation: this.#generations[partition] as number,
      pieces,
      covered: Math.max(0, this.log.length - behind),
    };
  }

  /** The process is gone and starts again: from the checkpoints, and from the log behind what they cover. */
  restart(): void {
    this.counters = new CounterMap();
    this.handler = this.#makeHandler();
    for (const key of this.#sums.keys()) {
      const [partition, since] = key.split(" ").map(Number) as [number, number];
      if (since >= (this.#stored[partition] as StoredPart).generation) this.#sums.delete(key);
    }
    this.#stored.forEach(({ generation, pieces }, partition) => {
      this.#generations[partition] = generation;
      for (const piece of pieces) this.handler.restore(partition, piece);
    });
    this.log.forEach(({ partition, payload, baseMs }, at) => {
      if (at >= (this.#stored[partition] as StoredPart).covered) this.handler.take(partition, payload, { baseMs, arrivalMs: 0 });
    });
  }

  /** The call graph as the store holds it. */
  calls(wallMs: number): string[] {
    return this.edges(wallMs)
      .map(
        (e) => `${e.caller.serviceId} ${e.callee.environment}/${e.callee.serviceId} ${e.minute} ${e.calls} ${e.errors} ${e.microseconds}`,
      )
      .sort();
  }

  /** The same as edges. */
  edges(wallMs: number): CallEdge[] {
    this.handler.onInterval(wallMs + 3_600_000);
    const all = new CallEdges(1_000_000);
    for (const edges of this.#sums.values()) all.addEncoded(edges);
    return [...all];
  }
}
