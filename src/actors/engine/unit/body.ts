// A body as the front handed it over, its text and JSON, and the answers of ingestion.
import { isUtf8 } from "node:buffer";
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { errorAnswer } from "../../../api/error-answer.ts";
import type { Refusal } from "../../../api/refusal.ts";
import { JSON_DEPTH_MAX } from "../../../core/config/limits.ts";
import { type BodyDescriptor, readDescriptor } from "../../../core/layout/body-descriptor.ts";
import { BODY_PADDING_BYTES, LARGE_BODY, WORK_BODY } from "../../../core/layout/memory-map.ts";
import { type DecodedJson, decodeJson } from "../../../domain/codec/json-body.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { BodyAnswer } from "./work-unit.ts";

/** One body in the engine's memory. */
export interface Body extends Omit<BodyDescriptor, "keyBytes"> {
  /** Empty where the request had none. */
  readonly idempotencyKey: string;
}

/** Reads the descriptor at a position of the descriptor ring. */
export function readBody(memory: EngineMemory, position: number): Body {
  const { pointer, bytes, kind, tenant, keyBytes, isAnonymous, admission, arrivalMs, wallMs, sender } = readDescriptor(
    memory.view,
    position,
  );
  const idempotencyKey = keyBytes === 0 ? "" : memory.slice(pointer + bytes + BODY_PADDING_BYTES, keyBytes).toString("utf8");
  return { pointer, bytes, kind, tenant, idempotencyKey, isAnonymous, admission, arrivalMs, wallMs, sender }; // a spread takes 7 us a body
}

/** Whether a body lies in the place for large ones, not in the ring. */
export function isLarge({ pointer }: Body): boolean {
  return pointer === LARGE_BODY;
}

/** A body of the ring in the place where it can be brought back to, with its padding. */
export function toWorkArea(body: Body, memory: EngineMemory): Body {
  memory.bytes.copyWithin(WORK_BODY, body.pointer, body.pointer + body.bytes + BODY_PADDING_BYTES);
  return { ...body, pointer: WORK_BODY };
}

/** Dependencies for reading a body. */
interface BodySource {
  readonly memory: EngineMemory;
  readonly kernel: Pick<IngestExports, "jsonDepth">;
}

/** The text of a body; undefined when it is not UTF-8. */
export function textOfBody(body: Body, { memory }: Pick<BodySource, "memory">): string | undefined {
  const bytes = memory.slice(body.pointer, body.bytes);
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

/** Decodes a body of JSON; what is wrong with it is in words for its sender. */
export function decodeJsonBody(body: Body, source: BodySource): DecodedJson {
  const text = textOfBody(body, source);
  return text === undefined
    ? { ok: false, message: "the body is not valid UTF-8; JSON must be sent as UTF-8" }
    : decodeJsonText(body, text, source);
}

/** The same where its text is at hand. */
export function decodeJsonText(body: Body, text: string, { kernel }: Pick<BodySource, "kernel">): DecodedJson {
  const depth = kernel.jsonDepth(body.pointer, body.bytes);
  if (depth > JSON_DEPTH_MAX) return { ok: false, message: `the body nests ${depth} levels deep; at most ${JSON_DEPTH_MAX} are read` };
  const decoded = decodeJson(text);
  return decoded.ok ? decoded : { ok: false, message: `the body is not JSON: ${decoded.message}` };
}

/** The answer to a body that is refused; the front gives it the form that the client asks for. */
export function refusedAnswer(refusal: Refusal, requestId: string): BodyAnswer {
  const { status, body } = errorAnswer(refusal, requestId, undefined);
  return { status, body };
}
