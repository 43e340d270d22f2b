// The ingest's side of logs: masks the text of each, and gathers what the shard of its service counts.
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { KEYED_ARRIVAL_MS_MAX, KEYED_ARRIVALS_MAX, NEW_SOURCE_TEXT_BYTES } from "../../../core/config/body-limits.ts";
import { SECTION_LOGS } from "../../../core/layout/row-frame.ts";
import { MESSAGE_BYTES_FULL } from "../../../domain/codec/shard-message.ts";
import { maskedText } from "../../../domain/logs/masked-text.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { type ServiceName, type WindowMessageWriter, WindowMessageWriters } from "../../../domain/window/window-message.ts";
import { windowOf } from "../../../domain/window/window-time.ts";
import type { MessageSource, WorkUnit } from "../unit/work-unit.ts";

/** Services remembered between units. */
const SERVICES_RETAINED_MAX = 1_000;

/** A log as it is counted. `id` is that of its record: the same log again has the same. */
export interface CountedLog {
  readonly serviceId: string;
  readonly environment: string;
  readonly timeMs: number;
  /** Place in SEVERITIES. */
  readonly severity: number;
  readonly body: string;
  /** 32 hex digits. */
  readonly id: string;
}

interface Source extends ServiceName {
  readonly partition: number;
  /** That of the unit at hand. */
  message: WindowMessageWriter | undefined;
}

/** Takes the logs of one engine. */
export class LogIntake implements MessageSource {
  readonly #sources = new Map<string, Source>();
  #begun: Source[] = [];
  readonly #writers = new WindowMessageWriters();
  readonly #exclusions: FieldExclusions;
  /** When requests with an Idempotency-Key came first, by tenant and key. */
  readonly #arrivals = new BoundedMap<string, number>(KEYED_ARRIVALS_MAX);

  /** Templates hold no field that `exclusions` names. */
  constructor(exclusions: FieldExclusions) {
    this.#exclusions = exclusions;
  }

  /** The time of a log without one, which came at `wallMs`: when its request came, and where that has an Idempotency-Key when it came first. */
  arrivalOf(tenant: string, idempotencyKey: string, wallMs: number): number {
    if (idempotencyKey === "") return wallMs;
    const key = JSON.stringify([tenant, idempotencyKey]);
    const known = this.#arrivals.get(key);
    if (known !== undefined && wallMs - known <= KEYED_ARRIVAL_MS_MAX) return known;
    this.#arrivals.set(key, wallMs);
    return wallMs;
  }

  /** Counts a log that has been judged and is kept as a record. */
  count(tenant: string, { serviceId, environment, timeMs, severity, body, id }: CountedLog, unit: WorkUnit): void {
    const source = this.#source(tenant, environment, serviceId, unit);
    const message = source.message ?? this.#begin(source);
    const window = windowOf(timeMs);
    unit.addSource(this);
    if (message.bytes > MESSAGE_BYTES_FULL) unit.addMessage(SECTION_LOGS, source.partition, message.finish());
    if (message.bytes === 0) message.begin(source, window);
    const retained = this.#exclusions.isEmpty ? body : this.#exclusions.strip({ body }).body;
    message.add(maskedText(retained), severity, window, 0, Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(8, 16), 16));
  }

  #begin(source: Source): WindowMessageWriter {
    this.#begun.push(source);
    source.message = this.#writers.take();
    return source.message;
  }

  /** Adds what has been gathered. */
  addMessages(unit: WorkUnit): void {
    for (const source of this.#begun) {
      const message = source.message as WindowMessageWriter;
      unit.addMessage(SECTION_LOGS, source.partition, message.finish());
      this.#writers.give(message);
      source.message = undefined;
    }
    this.#begun = [];
    if (this.#sources.size > SERVICES_RETAINED_MAX) this.#sources.clear();
  }

  #source(tenant: string, environment: string, serviceId: string, unit: WorkUnit): Source {
    const key = JSON.stringify([tenant, environment, serviceId]);
    let source = this.#sources.get(key);
    if (source === undefined) {
      unit.worked(NEW_SOURCE_TEXT_BYTES, 0);
      source = { tenant, environment, serviceId, partition: partitionOf(tenant, serviceId), message: undefined };
      this.#sources.set(key, source);
    }
    return source;
  }
}
