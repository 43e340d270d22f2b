// Cuts an OTLP request in JSON at the elements of its arrays, into small requests of the same meaning: what stands around a run of resources, scopes, items or
// points is written around each of its pieces. All of the body is checked before the first piece is decoded; it takes a turn for every few MiB.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import {
  JSON_PARSED_BYTES_MAX,
  JSON_SCANNED_BYTES_MAX,
  OTLP_ELEMENT_BYTES_MIN,
  OTLP_ELEMENTS_FREE,
} from "../../../core/config/body-limits.ts";
import { JSON_DEPTH_MAX } from "../../../core/config/limits.ts";
import { STATUS_LONG_ELEMENT, STATUS_OK } from "../../../core/layout/kernel-status.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { METRIC_KINDS } from "../../../domain/otlp/json-metrics.ts";
import type { RequestNames } from "../../../domain/otlp/json-values.ts";
import { type BodyProblem, longElement, problemAt } from "../json/record-runs.ts";
import type { Body } from "../unit/body.ts";

/** An object that is cut: what of it stands before and behind its hole, which its pieces fill. */
interface Frame {
  readonly parent: Frame | undefined;
  readonly from: number;
  holeFrom: number;
  holeEnd: number;
  end: number;
}

/** Whole elements of one array, and what stands around it. */
export interface RequestPiece {
  readonly frame: Frame;
  readonly from: number;
  readonly end: number;
  readonly elements: number;
}

const BRACE = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET = 0x5b;
const BRACKET_CLOSE = 0x5d;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const NULL = 0x6e;
/** A longer name of a member is not read. */
const NAME_BYTES_MAX = 256;
/** A member of an object that is cut takes as long as so many bytes, 0.5 us. */
const MEMBER_BYTES = 1024;
/** Place of the items among the levels; points stand two levels below. */
const LEVEL_ITEMS = 2;

/** The body cannot be cut. */
class CutError extends Error {
  readonly problem: BodyProblem;

  constructor(problem: BodyProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Bytes of what stands around the pieces of an object, in all objects that it is in. */
function bytesAround(frame: Frame | undefined): number {
  return frame === undefined ? 0 : frame.holeFrom - frame.from + frame.end - frame.holeEnd + bytesAround(frame.parent);
}

/** The text of a piece: a request of its own. */
export function textOfPiece(piece: RequestPiece, memory: EngineMemory): string {
  let text = memory.slice(piece.from, piece.end - piece.from).toString("utf8");
  for (let frame: Frame | undefined = piece.frame; frame !== undefined; frame = frame.parent) {
    const head = memory.slice(frame.from, frame.holeFrom - frame.from).toString("utf8");
    text = head + text + memory.slice(frame.holeEnd, frame.end - frame.holeEnd).toString("utf8");
  }
  return text;
}

/** Cuts one body. */
export class RequestCut {
  readonly #body: Body;
  readonly #levels: readonly string[];
  readonly #hasPoints: boolean;
  readonly #kernel: IngestExports;
  readonly #bytes: Uint8Array;
  readonly #memory: EngineMemory;
  readonly #pieces: RequestPiece[] = [];
  #objects = 0;
  /** Bytes passed since the last turn. */
  #scannedBytes = 0;

  constructor(
    body: Body,
    names: RequestNames,
    hasPoints: boolean,
    dependencies: { readonly kernel: IngestExports; readonly memory: EngineMemory },
  ) {
    this.#body = body;
    this.#levels = [names.resources, names.scopes, names.items];
    this.#hasPoints = hasPoints;
    this.#kernel = dependencies.kernel;
    this.#memory = dependencies.memory;
    this.#bytes = dependencies.memory.bytes;
  }

  /** Yields when others should have their turn, and ends with the pieces of the body or with what is wrong with it. */
  *run(): Generator<undefined, readonly RequestPiece[] | BodyProblem> {
    const { pointer, bytes } = this.#body;
    try {
      const start = this.#kernel.jsonSpaceEnd(pointer);
      if (this.#bytes[start] !== BRACE) throw new CutError(problemAt(0));
      const end = yield* this.#object(start, 0, undefined);
      if (this.#kernel.jsonSpaceEnd(end) !== pointer + bytes) this.#fail(end);
      for (const { frame } of this.#pieces) if (bytesAround(frame) > JSON_PARSED_BYTES_MAX) this.#tooMuchAround(0);
      return this.#pieces;
    } catch (error) {
      if (error instanceof CutError) return error.problem;
      throw error;
    }
  }

  #fail(at: number): never {
    throw new CutError(problemAt(at - this.#body.pointer));
  }

  #refuse(message: string): never {
    throw new CutError({ code: "invalid_json", message });
  }

  /** Cuts the object at `from`, whose array of `level` has what pieces are made of; answers where it ends. */
  *#object(from: number, level: number, parent: Frame | undefined): Generator<undefined, number> {
    const frame: Frame = { parent, from, holeFrom: 0, holeEnd: 0, end: 0 };
    let at = this.#kernel.jsonSpaceEnd(from + 1);
    while (this.#bytes[at] !== BRACE_CLOSE) {
      if (at - (frame.holeEnd || from) > JSON_PARSED_BYTES_MAX) this.#tooMuchAround(level);
      if (this.#isSliceOver(MEMBER_BYTES)) yield;
      const [name, value] = this.#member(at);
      const isHole = this.#isHole(name, level, value);
      if (isHole && frame.holeFrom !== 0) this.#refuse(`an object of the request has what is cut twice: ${JSON.stringify(name)}`);
      if (isHole) at = yield* this.#hole(frame, level, value);
      else at = this.#whole(value);
      at = this.#behindMember(at);
    }
    frame.end = at + 1;
    if (frame.holeFrom === 0) frame.holeFrom = frame.holeEnd = at;
    if (bytesAround({ ...frame, parent: undefined }) > JSON_PARSED_BYTES_MAX) this.#tooMuchAround(level);
    return frame.end;
  }

  #tooMuchAround(level: number): never {
    const what = this.#levels[level] ?? "dataPoints";
    this.#refuse(`what stands beside ${what} in one object may have ${JSON_PARSED_BYTES_MAX} bytes; send fewer or shorter attributes`);
  }

  /** Name of the member at a place, and where its value begins. */
  #member(at: number): readonly [string, number] {
    if (this.#bytes[at] !== QUOTE) this.#fail(at);
    const end = this.#kernel.jsonValueEnd(at, NAME_BYTES_MAX, 0);
    if (end === 0) this.#fail(at);
    const name = this.#memory.slice(at + 1, end - at - 2).toString("latin1");
    if (name.includes("\\")) this.#refuse("the names of a request's members must be written without escapes");
    const colon = this.#kernel.jsonSpaceEnd(end);
    if (this.#bytes[colon] !== COLON) this.#fail(colon);
    return [name, this.#kernel.jsonSpaceEnd(colon + 1)];
  }

  #behindMember(at: number): number {
    const next = this.#kernel.jsonSpaceEnd(at);
    if (this.#bytes[next] === BRACE_CLOSE) return next;
    if (this.#bytes[next] !== COMMA) this.#fail(next);
    const name = this.#kernel.jsonSpaceEnd(next + 1);
    if (this.#bytes[name] !== QUOTE) this.#fail(name);
    return name;
  }

  /** Behind a value that stays whole. */
  #whole(value: number): number {
    const end = this.#kernel.jsonValueEnd(value, JSON_PARSED_BYTES_MAX, JSON_DEPTH_MAX - 10);
    if (end !== 0) return end;
    if (this.#kernel.jsonValueEnd(value, JSON_SCANNED_BYTES_MAX, JSON_DEPTH_MAX - 10) === 0) this.#fail(value);
    this.#refuse(
      `a resource, a scope or a metric may have ${JSON_PARSED_BYTES_MAX} bytes besides what it holds; send fewer or shorter attributes`,
    );
  }

  /** Whether the member is where the object is cut; a null is as good as nothing. */
  #isHole(name: string, level: number, value: number): boolean {
    const isWanted = level === LEVEL_ITEMS + 1 ? METRIC_KINDS.has(name) : name === (this.#levels[level] ?? "dataPoints");
    if (!isWanted || this.#bytes[value] === NULL) return false;
    const [opens, what] =
      level === LEVEL_ITEMS + 1 ? [BRACE, "an object"] : [BRACKET, level < LEVEL_ITEMS ? "an array of objects" : "an array"];
    if (this.#bytes[value] !== opens) this.#refuse(`${name} must be ${what}`);
    return true;
  }

  *#hole(frame: Frame, level: number, value: number): Generator<undefined, number> {
    if (level === LEVEL_ITEMS + 1) {
      frame.holeFrom = value;
      frame.holeEnd = yield* this.#object(value, level + 1, frame);
      return frame.holeEnd;
    }
    frame.holeFrom = value + 1;
    frame.holeEnd = yield* this.#array(value, level, frame);
    return frame.holeEnd + 1;
  }

  /** Cuts the elements of the array at `from`; answers where its bracket closes. */
  *#array(from: number, level: number, frame: Frame): Generator<undefined, number> {
    let at = this.#kernel.jsonSpaceEnd(from + 1);
    while (this.#bytes[at] !== BRACKET_CLOSE) {
      at = yield* this.#run(at, level, frame);
      if (this.#isSliceOver(JSON_PARSED_BYTES_MAX)) yield;
    }
    return at;
  }

  /** Whether so many bytes more are as much as one turn passes. */
  #isSliceOver(bytes: number): boolean {
    this.#scannedBytes += bytes;
    if (this.#scannedBytes < JSON_SCANNED_BYTES_MAX) return false;
    this.#scannedBytes = 0;
    return true;
  }

  /** Takes a run of elements as a piece, or cuts the first one; answers where the next begins. */
  *#run(at: number, level: number, frame: Frame): Generator<undefined, number> {
    const kernel = this.#kernel;
    const isCut = level < LEVEL_ITEMS || (this.#hasPoints && level === LEVEL_ITEMS);
    const status = kernel.jsonRun(at, JSON_PARSED_BYTES_MAX, isCut ? JSON_PARSED_BYTES_MAX : JSON_SCANNED_BYTES_MAX, JSON_DEPTH_MAX - 10);
    if (status === STATUS_OK) {
      if (level < LEVEL_ITEMS && kernel.jsonRunOthers() > 0) this.#refuse(`${this.#levels[level]} must be an array of objects`);
      this.#take({ frame, from: at, end: kernel.jsonRunEnd(), elements: kernel.jsonRunElements() });
      return kernel.jsonRunNext();
    }
    if (status !== STATUS_LONG_ELEMENT) this.#fail(kernel.jsonRunEnd());
    if (!isCut || this.#bytes[at] !== BRACE) throw new CutError(longElement(at - this.#body.pointer));
    const end = yield* this.#object(at, level + 1, frame);
    const next = kernel.jsonSpaceEnd(end);
    if (this.#bytes[next] === BRACKET_CLOSE) return next;
    if (this.#bytes[next] !== COMMA) this.#fail(next);
    const element = kernel.jsonSpaceEnd(next + 1);
    if (this.#bytes[element] === BRACKET_CLOSE) this.#fail(element);
    return element;
  }

  #take(piece: RequestPiece): void {
    this.#pieces.push(piece);
    this.#objects += this.#kernel.jsonRunObjects();
    if (this.#objects > elementsMax(this.#body.bytes)) throw new CutError(tooManyElements(this.#body.bytes));
  }
}

/** Elements that the arrays of a body of so many bytes may have. */
export function elementsMax(bytes: number): number {
  return Math.floor(OTLP_ELEMENTS_FREE + bytes / OTLP_ELEMENT_BYTES_MIN);
}

/** Error of a body of far more elements than telemetry has. */
export function tooManyElements(bytes: number): BodyProblem {
  const message = `the arrays of a request of ${bytes} bytes may have ${elementsMax(bytes)} elements, got more; send no empty ones, and split what is too much`;
  return { code: "batch_too_large", message };
}
