// What an OTLP body holds, decoded from either encoding (protobuf, JSON), and who takes it. Times are milliseconds since 1970.
// https://github.com/open-telemetry/opentelemetry-proto
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";

/** One span. Ids are lower-case hex, "" where absent. */
export interface OtlpSpan {
  readonly serviceId: string;
  readonly environment: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** SpanKind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  /** Fractional. */
  readonly startMs: number;
  readonly endMs: number;
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number;
  readonly attributes: Attributes;
  readonly resourceAttributes: Attributes;
}

/** One log record; a body that is no string is JSON text. */
export interface OtlpLog {
  readonly serviceId: string;
  readonly environment: string;
  /** Its own time, else when it was observed. */
  readonly timeMs: number;
  /** SeverityNumber 0..24. */
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: string;
  readonly attributes: Attributes;
  readonly resourceAttributes: Attributes;
  readonly traceId: string;
  readonly spanId: string;
}
