/**
 * Frames between the server and a sandbox process, over two descriptors of their own: programs may print on the first three, which lead nowhere.
 *
 *     request   u32 length of the rest | 16 bytes nonce | u8 language | u32 length of program | program | event       (UTF-8, little-endian)
 *     answer    16 bytes nonce | u32 length of the rest | u8 kind | i32 line, 0 for none | text
 *
 * An answer that does not begin with the nonce of the request is not the runner's: the process is killed.
 */
import { TRANSFORM_ERROR_CHARACTERS_MAX, TRANSFORM_OUTPUT_BYTES_MAX } from "../../core/config/sandbox-limits.ts";

/** Descriptors of the child: it reads requests of one and writes answers on the other. */
export const REQUEST_DESCRIPTOR = 3;
export const ANSWER_DESCRIPTOR = 4;
export const NONCE_BYTES = 16;
export const ANSWER_HEAD_BYTES = NONCE_BYTES + 4;
const ANSWER_META_BYTES = 5;
/** Longest rest of an answer: a payload, or what a failure says in four bytes a character. */
const ANSWER_REST_BYTES_MAX = ANSWER_META_BYTES + Math.max(TRANSFORM_OUTPUT_BYTES_MAX, 4 * TRANSFORM_ERROR_CHARACTERS_MAX);

export const LANGUAGES = ["jq", "javascript", "python"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * `overrun`: the interpreter ended the program at one of its limits. `trapped`: the interpreter itself failed. After either its process is of no use any more.
 * `ready` is said once, before anything of a tenant is read.
 */
export const ANSWER_KINDS = ["ready", "payload", "dropped", "failed", "overrun", "trapped"] as const;
export type AnswerKind = (typeof ANSWER_KINDS)[number];

export interface Request {
  readonly language: Language;
  readonly program: string;
  readonly event: string;
}

export interface Answer {
  readonly kind: AnswerKind;
  readonly text: string;
  readonly line: number | null;
}

export function requestFrame(nonce: Uint8Array, { language, program, event }: Request): Buffer {
  const programBytes = Buffer.from(program);
  const eventBytes = Buffer.from(event);
  const head = Buffer.alloc(4 + NONCE_BYTES + 5);
  head.writeUInt32LE(NONCE_BYTES + 5 + programBytes.length + eventBytes.length, 0);
  head.set(nonce, 4);
  head.writeUInt8(LANGUAGES.indexOf(language), 4 + NONCE_BYTES);
  head.writeUInt32LE(programBytes.length, 4 + NONCE_BYTES + 1);
  return Buffer.concat([head, programBytes, eventBytes]);
}

/** Request in the bytes behind its length. */
export function readRequest(rest: Buffer): Request & { readonly nonce: Buffer } {
  const program = NONCE_BYTES + 5;
  const event = program + rest.readUInt32LE(NONCE_BYTES + 1);
  return {
    nonce: rest.subarray(0, NONCE_BYTES),
    language: LANGUAGES[rest.readUInt8(NONCE_BYTES)] ?? "jq",
    program: rest.toString("utf8", program, event),
    event: rest.toString("utf8", event),
  };
}

/** Frame of an answer; one that would be too long is a failure that says so. */
export function answerFrame(nonce: Uint8Array, { kind, text, line }: Answer): Buffer {
  const bytes = Buffer.from(kind === "payload" || kind === "ready" ? text : text.slice(0, TRANSFORM_ERROR_CHARACTERS_MAX));
  if (bytes.length > TRANSFORM_OUTPUT_BYTES_MAX) {
    const said = `it answers ${bytes.length} bytes, more than ${TRANSFORM_OUTPUT_BYTES_MAX}`;
    return answerFrame(nonce, { kind: "failed", text: said, line: null });
  }
  const head = Buffer.alloc(ANSWER_HEAD_BYTES + ANSWER_META_BYTES);
  head.set(nonce, 0);
  head.writeUInt32LE(ANSWER_META_BYTES + bytes.length, NONCE_BYTES);
  head.writeUInt8(ANSWER_KINDS.indexOf(kind), ANSWER_HEAD_BYTES);
  head.writeInt32LE(line ?? 0, ANSWER_HEAD_BYTES + 1);
  return Buffer.concat([head, bytes]);
}

/** Length of the rest of the answer whose head stands in `bytes`; undefined where it is not the answer to `nonce`, or longer than one may be. */
export function answerRestBytes(bytes: Buffer, nonce: Uint8Array): number | undefined {
  if (Buffer.compare(bytes.subarray(0, NONCE_BYTES), nonce) !== 0) return undefined;
  const rest = bytes.readUInt32LE(NONCE_BYTES);
  return rest < ANSWER_META_BYTES || rest > ANSWER_REST_BYTES_MAX ? undefined : rest;
}

/** Answer in the bytes behind its head; undefined where its kind is none. */
export function readAnswer(rest: Buffer): Answer | undefined {
  const kind = ANSWER_KINDS[rest.readUInt8(0)];
  const line = rest.readInt32LE(1);
  return kind && { kind, text: rest.toString("utf8", ANSWER_META_BYTES), line: line > 0 ? line : null };
}
