// A body as the front handed it over, and the answers of ingestion.
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import { errorAnswer } from "../../api/error-answer.ts";
import type { Refusal } from "../../api/refusal.ts";
import {
  BODY_PADDING_BYTES,
  DESCRIPTOR_ADMISSION,
  DESCRIPTOR_ARRIVAL,
  DESCRIPTOR_BODY_BYTES,
  DESCRIPTOR_BYTES,
  DESCRIPTOR_COUNT,
  DESCRIPTOR_KEY_BYTES,
  DESCRIPTOR_KIND,
  DESCRIPTOR_POINTER,
  DESCRIPTOR_TENANT,
  DESCRIPTOR_WALL,
  DESCRIPTORS,
} from "../../core/layout/memory-map.ts";
import type { BodyAnswer } from "./work-unit.ts";

/** One body in the engine's memory. */
export interface Body {
  readonly pointer: number;
  readonly bytes: number;
  /** BODY_* of core/protocol/body-kind.ts. */
  readonly kind: number;
  readonly tenant: number;
  readonly idempotencyKey: string;
  readonly admission: number;
  readonly arrivalMs: number;
  readonly wallMs: number;
}

/** Reads the descriptor at a position of the descriptor ring. */
export function readBody(memory: EngineMemory, position: number): Body {
  const at = DESCRIPTORS + (position % DESCRIPTOR_COUNT) * DESCRIPTOR_BYTES;
  const view = memory.view;
  const pointer = view.getUint32(at + DESCRIPTOR_POINTER, true);
  const bytes = view.getUint32(at + DESCRIPTOR_BODY_BYTES, true);
  const keyBytes = view.getUint32(at + DESCRIPTOR_KEY_BYTES, true);
  return {
    pointer,
    bytes,
    kind: view.getUint32(at + DESCRIPTOR_KIND, true),
    tenant: view.getUint32(at + DESCRIPTOR_TENANT, true),
    idempotencyKey: keyBytes === 0 ? "" : memory.slice(pointer + bytes + BODY_PADDING_BYTES, keyBytes).toString("utf8"),
    admission: view.getFloat64(at + DESCRIPTOR_ADMISSION, true),
    arrivalMs: view.getFloat64(at + DESCRIPTOR_ARRIVAL, true),
    wallMs: view.getFloat64(at + DESCRIPTOR_WALL, true),
  };
}

/** The answer to a body that is refused; the front gives it the form that the client asks for. */
export function refusedAnswer(refusal: Refusal, requestId: string): BodyAnswer {
  const { status, body } = errorAnswer(refusal, requestId, undefined);
  return { status, body };
}
