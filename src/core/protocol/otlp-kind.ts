// OTLP's signals and encodings, as they travel in the kind of a body.
import { BODY_OTLP } from "./body-kind.ts";

/** Signals, in the order of their body kinds. */
export const OTLP_SIGNALS = ["metrics", "traces", "logs"] as const;
export type OtlpSignal = (typeof OTLP_SIGNALS)[number];

/** Encoding of a request, and of its answer with it. */
export type OtlpEncoding = "protobuf" | "json";

export function otlpBodyKind(signal: OtlpSignal, encoding: OtlpEncoding): number {
  return BODY_OTLP + 2 * OTLP_SIGNALS.indexOf(signal) + (encoding === "json" ? 1 : 0);
}

/** Meaning of a body kind from BODY_OTLP on. */
export function otlpOfBodyKind(kind: number): { readonly signal: OtlpSignal; readonly encoding: OtlpEncoding } {
  const number = kind - BODY_OTLP;
  return { signal: OTLP_SIGNALS[number >> 1] as OtlpSignal, encoding: number % 2 === 1 ? "json" : "protobuf" };
}
