// Drives the kernel's walk over the number points of a body: this side defines new streams, and takes or refuses what the kernel cannot stage.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import {
  STATUS_DONE,
  STATUS_ODD_RECORD,
  STATUS_ROWS_FULL,
  STATUS_TABLE_FULL,
  STATUS_UNKNOWN_STREAM,
} from "../../../core/layout/kernel-status.ts";
import {
  OTLP_POINT,
  OTLP_POINT_BYTES,
  OTLP_POINT_COUNTER,
  OTLP_POINT_NAME,
  OTLP_POINT_NAME_BYTES,
  OTLP_POINT_RESOURCE,
  OTLP_POINT_RESOURCE_BYTES,
  OTLP_POINT_SCOPE,
  OTLP_POINT_SCOPE_BYTES,
  OTLP_POINT_UNIT,
} from "../../../core/layout/memory-map.ts";
import type { OtlpEncoding } from "../../../core/protocol/otlp-kind.ts";
import { decodeJson } from "../../../domain/codec/json-body.ts";
import { nameOfBytes, WireReader } from "../../../domain/codec/wire-reader.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { readJsonPoint } from "../../../domain/otlp/json-metrics.ts";
import { sourceOfJson } from "../../../domain/otlp/json-values.ts";
import type { ItemRefusal, NumberPoint, OtlpSource } from "../../../domain/otlp/otlp-items.ts";
import { readNumberPoint } from "../../../domain/otlp/protobuf-metrics.ts";
import { DAMAGED_RESOURCE, sourceOfResource } from "../../../domain/otlp/protobuf-request.ts";
import type { Body } from "../unit/body.ts";
import type { MetricScopes } from "../unit/metric-scopes.ts";
import type { WorkUnit } from "../unit/work-unit.ts";
import { type NumberPoints, recordOfPoint } from "./number-points.ts";
import type { OtlpOutcome } from "./otlp-outcome.ts";

/** Longer units are left out. */
const UNIT_BYTES_MAX = 63;
const QUOTE = 0x22;

/** One engine's, over one body at a time. */
export class MetricsParser {
  readonly #points: NumberPoints;
  readonly #prefixes: boolean;
  readonly #memory: EngineMemory;
  readonly #kernel: IngestExports;
  readonly #scopes: MetricScopes;
  /** The resource that was read last, by its address. */
  #resourceAt = -1;
  #source: OtlpSource | string = DAMAGED_RESOURCE;
  #encoding: OtlpEncoding = "protobuf";
  /** Number points of the body, and those of them that were refused. */
  #count = 0;
  #refused = 0;

  /** `prefixes` as sourceOf() has it. */
  constructor(
    points: NumberPoints,
    { memory, kernel, scopes }: { readonly memory: EngineMemory; readonly kernel: IngestExports; readonly scopes: MetricScopes },
    prefixes: boolean,
  ) {
    this.#prefixes = prefixes;
    this.#points = points;
    this.#memory = memory;
    this.#kernel = kernel;
    this.#scopes = scopes;
  }

  /** A body of so many number points was begun. */
  begin(points: number, encoding: OtlpEncoding): void {
    this.#encoding = encoding;
    this.#resourceAt = -1;
    this.#count = points;
    this.#refused = 0;
  }

  /** The walk has been taken up, perhaps of a body that lies elsewhere now. */
  goOn(): void {
    this.#resourceAt = -1;
  }

  /** Walks on; false when the unit must be committed first. */
  step(body: Body, unit: WorkUnit, outcome: OtlpOutcome): boolean {
    for (;;) {
      const status = this.#kernel.otlpMetricsStep();
      if (status === STATUS_DONE) {
        outcome.accept(this.#count - this.#refused);
        return true;
      }
      if (status === STATUS_ROWS_FULL) return false;
      if (status === STATUS_UNKNOWN_STREAM) this.#define(body, unit, outcome);
      else if (status === STATUS_ODD_RECORD) this.#takeOdd(body, unit, outcome);
      else throw new Error(`OTLP metrics walk: unexpected status ${status}`);
      unit.worked(0);
      if (unit.overflow.length > 0 || !unit.mayWork) return false;
    }
  }

  #define(body: Body, unit: WorkUnit, outcome: OtlpOutcome): void {
    const kernel = this.#kernel;
    const point = this.#namedPoint(body, unit);
    const defined = typeof point === "string" ? damaged(point) : this.#points.define(point, body, unit);
    if ("reason" in defined) {
      this.#bury(unit, outcome, defined, typeof point === "string" ? null : recordOfPoint(point));
      return;
    }
    const { ref, destination, partition } = defined;
    if (kernel.otlpMetricsResolve(ref, destination, partition) !== STATUS_TABLE_FULL) return;
    kernel.keyTableClear();
    kernel.otlpMetricsResolve(ref, destination, partition);
  }

  /** Takes a point that the kernel cannot stage: in JSON it may be good all the same. */
  #takeOdd(body: Body, unit: WorkUnit, outcome: OtlpOutcome): void {
    const point = this.#namedPoint(body, unit);
    const refusal = typeof point === "string" ? damaged(point) : this.#points.take(point, body, unit);
    if (refusal === undefined) this.#kernel.otlpMetricsSkip();
    else this.#bury(unit, outcome, refusal, typeof point === "string" ? null : recordOfPoint(point));
  }

  #bury(unit: WorkUnit, outcome: OtlpOutcome, refusal: ItemRefusal, payload: unknown): void {
    this.#refused++;
    this.#kernel.otlpMetricsSkip();
    outcome.refuse(unit, refusal, payload);
  }

  /** The same as its stream is named. */
  #namedPoint(body: Body, unit: WorkUnit): NumberPoint | string {
    const point = this.#pointAtHand();
    return typeof point === "string" ? point : this.#scopes.number(point, body.tenant, unit);
  }

  /** The point at which the kernel stopped; what is wrong with its bytes if it cannot be read. */
  #pointAtHand(): NumberPoint | string {
    const word = (offset: number) => this.#memory.view.getUint32(OTLP_POINT + offset, true);
    const source = this.#sourceAt(word(OTLP_POINT_RESOURCE), word(OTLP_POINT_RESOURCE_BYTES));
    if (typeof source === "string") return source;
    const bytes = this.#memory.slice(word(0), word(OTLP_POINT_BYTES));
    const name = nameOfBytes(this.#memory.slice(word(OTLP_POINT_NAME), word(OTLP_POINT_NAME_BYTES)));
    const counter = word(OTLP_POINT_COUNTER);
    const type = counter === 0 ? "gauge" : "counter";
    const scope = this.#memory.slice(word(OTLP_POINT_SCOPE), word(OTLP_POINT_SCOPE_BYTES)).toString("utf8");
    const head = { source, metricName: name, type, unit: this.#unitAt(word(OTLP_POINT_UNIT)), scope, isCounter: counter === 1 } as const;
    if (this.#encoding === "json") return readJsonPoint(parse(bytes), head);
    return readNumberPoint(new WireReader(bytes), bytes.length, head) ?? "the attributes of a point are not valid protobuf";
  }

  #unitAt(pointer: number): string {
    if (pointer === 0) return "";
    if (this.#encoding === "protobuf") return this.#memory.slice(pointer, this.#memory.bytes[pointer - 1] as number).toString("utf8");
    const bytes = this.#memory.slice(pointer, UNIT_BYTES_MAX + 1);
    const end = bytes.indexOf(QUOTE);
    return end < 0 ? "" : bytes.toString("utf8", 0, end);
  }

  #sourceAt(pointer: number, length: number): OtlpSource | string {
    if (pointer !== this.#resourceAt) {
      this.#resourceAt = pointer;
      const bytes = this.#memory.slice(pointer, length);
      const prefixes = this.#prefixes;
      this.#source =
        this.#encoding === "json"
          ? sourceOfJson(length === 0 ? undefined : parse(bytes), prefixes)
          : (sourceOfResource(bytes, prefixes) ?? DAMAGED_RESOURCE);
    }
    return this.#source;
  }
}

/** JSON that the kernel found to be some. */
function parse(bytes: Buffer): unknown {
  const decoded = decodeJson(bytes.toString("utf8"));
  if (!decoded.ok) throw new Error(`OTLP metrics walk: the kernel took for JSON what is none: ${decoded.message}`);
  return decoded.value;
}

function damaged(message: string): ItemRefusal {
  return { reason: "invalid_record", field: null, message };
}
