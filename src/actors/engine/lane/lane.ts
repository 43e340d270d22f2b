// The lane: takes bodies from the front, decodes them into units of work, commits each unit to the log, hands the rows to the shards,
// and lets the answers go. Nothing here waits; `step` does what can be done now and says whether that was anything.
import type { LogWriter } from "../../../adapters/log/log-writer.ts";
import { LogWriteError } from "../../../adapters/log/log-writer.ts";
import type { EngineMemory } from "../../../adapters/runtime/engine-memory.ts";
import { BATCH_RECORDS_MAX, WORK_BODY_BYTES_MAX, WORK_ROWS_MAX } from "../../../core/config/limits.ts";
import { LARGE_BODY } from "../../../core/layout/memory-map.ts";
import {
  BODY_IMPORT_CSV,
  BODY_IMPORT_JSON,
  BODY_JSON_BATCH,
  BODY_JSON_SINGLE,
  BODY_OTLP,
  BODY_REMOTE_WRITE_1,
  BODY_REMOTE_WRITE_2,
  BODY_REPLAY,
  BODY_REPLAY_HISTORY,
  isHistoryBody,
} from "../../../core/protocol/body-kind.ts";
import type { TenantUsage } from "../../../core/protocol/coordinator-frame.ts";
import { otlpOfBodyKind } from "../../../core/protocol/otlp-kind.ts";
import { UsageTally } from "../../../domain/access/usage-tally.ts";
import type { LaneExports } from "../../../domain/kernel/lane-kernel.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import type { HistoryDecoder } from "../history/history-decoder.ts";
import type { ReplayDecoder } from "../history/replay-decoder.ts";
import type { JsonDecoder } from "../json/json-decoder.ts";
import type { OtlpDecoder } from "../otlp/otlp-decoder.ts";
import type { RemoteWriteDecoder } from "../remote-write/remote-write-decoder.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Outbox } from "../report/outbox.ts";
import { type Body, readBody, refusedAnswer } from "../unit/body.ts";
import type { LabelIntake } from "../unit/label-intake.ts";
import { type BodyAnswer, WorkUnit } from "../unit/work-unit.ts";
import type { LaneDecoders } from "./lane-decoders.ts";
import type { Placement } from "./placement.ts";

export interface LaneOptions {
  readonly engines: number;
}

export interface LaneDependencies {
  readonly memory: EngineMemory;
  readonly kernel: LaneExports;
  readonly log: LogWriter;
  readonly placement: Placement;
  readonly json: JsonDecoder;
  readonly remoteWrite: RemoteWriteDecoder;
  readonly exclusions: FieldExclusions;
  readonly replay: ReplayDecoder;
  readonly history: HistoryDecoder;
  readonly otlp: OtlpDecoder;
  readonly labels: LabelIntake;
  readonly aside: LaneDecoders["aside"];
  readonly outbox: Outbox;
  /** False while history has to wait. */
  readonly takesHistory: () => boolean;
  readonly counters: EngineCounters;
  readonly monotonicMs: () => number;
  readonly requestId: (admission: number) => string;
  /** Hands this engine's own share of a committed unit to its shard. */
  readonly applyOwn: (unit: WorkUnit, rowBytes: number) => void;
  readonly answer: (answers: readonly BodyAnswer[]) => void;
}

/** One engine's lane. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #dependencies: LaneDependencies;
  readonly #unit: WorkUnit;
  /** Of the blocks since `takeUsage`. */
  readonly #usage = new UsageTally();
  #taken = 0;
  /** A body that needs a further unit. */
  #unfinished: Body | undefined;
  /** A large body that goes on in turns with all others, what its rows count from, whether its turn is next, and whether the unit at hand has something of it. */
  #aside: Body | undefined;
  #asideBaseMs = 0;
  #isAsideNext = false;
  #hasAside = false;
  /** Of the last body that was taken. */
  #admission = 0;

  constructor(options: LaneOptions, dependencies: LaneDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#unit = new WorkUnit(dependencies.memory, dependencies.kernel, options.engines, dependencies.exclusions);
  }

  /** Bodies that the front has published and this lane has not begun. */
  get waiting(): number {
    return (this.#dependencies.memory.bodiesHead() - this.#taken) >>> 0;
  }

  /** Events accepted by what was logged since the last call. */
  takeUsage(): readonly TenantUsage[] {
    const { entries } = this.#usage;
    this.#usage.clear();
    return entries;
  }

  get isIdle(): boolean {
    const isDone = this.waiting === 0 && this.#unfinished === undefined && this.#aside === undefined;
    return isDone && this.#dependencies.placement.isIdle;
  }

  step(): boolean {
    const { placement, outbox } = this.#dependencies;
    let did = placement.isBusy && placement.place();
    did = this.#release() || did;
    if (placement.isBusy || outbox.isOverLimit) return did;
    if (this.waiting === 0 && this.#unfinished === undefined && this.#aside === undefined) return did;
    const waits = !this.#dependencies.takesHistory() && this.#isHistoryNext();
    if (waits && this.#aside === undefined) return did;
    this.#work(waits || this.waiting === 0);
    return true;
  }

  /** Records and verdicts go first: who was answered and asks finds them in the ring. */
  #release(): boolean {
    this.#dependencies.outbox.flush();
    const answers = this.#dependencies.placement.takeAnswers();
    if (answers.length > 0) this.#dependencies.answer(answers);
    return answers.length > 0;
  }

  /** Decodes one unit of work, commits it and hands it on; `noOther`: no body may begin. */
  #work(noOther: boolean): void {
    const { kernel } = this.#dependencies;
    kernel.stagingReset(this.#options.engines);
    this.#hasAside = false;
    const goesOn = this.#unfinished === undefined && (this.#isAsideNext || noOther) ? this.#aside : undefined;
    if (this.#unfinished !== undefined) this.#continue(this.#unfinished);
    else if (goesOn !== undefined) this.#continueAside(goesOn);
    else this.#begin();
    if (goesOn === undefined) {
      while (this.#unfinished === undefined && this.#hasRoom() && this.#mayJoin()) this.#decode(this.#takeBody());
    }
    this.#isAsideNext = goesOn === undefined;
    this.#commit();
    this.#release();
  }

  /** History keeps to itself: its rows count from another time, and are not judged. */
  #mayJoin(): boolean {
    return this.waiting > 0 && !this.#unit.isHistory && !this.#isHistoryNext();
  }

  #isHistoryNext(): boolean {
    return this.waiting > 0 && isHistoryBody(readBody(this.#dependencies.memory, this.#taken).kind);
  }

  #begin(): void {
    const body = this.#takeBody();
    this.#unit.begin(body.admission, body.wallMs, body.arrivalMs);
    this.#decode(body);
  }

  #continue(body: Body): void {
    const base = this.#unit.baseMs;
    this.#unit.begin(this.#admission, body.wallMs, body.arrivalMs);
    this.#unit.baseMs = base;
    const { remoteWrite, otlp, history, json } = this.#dependencies;
    if (goesAside(body)) this.#settleAside(body, this.#asideDecoder(body).resume(body, this.#unit));
    else {
      const decoder = isJson(body) ? json : isHistoryBody(body.kind) ? history : body.kind >= BODY_OTLP ? otlp : remoteWrite;
      this.#settle(body, decoder.resume(body, this.#unit));
    }
  }

  /** Others have been committed meanwhile: of the unit's numbers only what its rows count from is the body's. */
  #continueAside(body: Body): void {
    this.#unit.begin(this.#admission, body.wallMs, body.arrivalMs);
    this.#unit.baseMs = this.#asideBaseMs;
    this.#settleAside(body, this.#asideDecoder(body).resume(body, this.#unit));
  }

  #asideDecoder(body: Body): JsonDecoder | OtlpDecoder {
    return isJson(body) ? this.#dependencies.aside.json : this.#dependencies.aside.otlp;
  }

  /** A body that is not done lets others overtake it, unless the kernel is in the middle of it. */
  #settleAside(body: Body, answer: BodyAnswer | undefined): void {
    const mayWait = answer === undefined && (isJson(body) || this.#dependencies.aside.otlp.isAtRest);
    this.#hasAside = answer === undefined;
    this.#aside = mayWait ? body : undefined;
    if (mayWait) this.#unfinished = undefined;
    else this.#settle(body, answer);
  }

  #hasRoom(): boolean {
    const unit = this.#unit;
    return (
      this.#dependencies.kernel.stagedRows() + BATCH_RECORDS_MAX <= WORK_ROWS_MAX &&
      unit.bodyBytes + unit.opaqueBytes < WORK_BODY_BYTES_MAX &&
      unit.mayWork
    );
  }

  #takeBody(): Body {
    const body = readBody(this.#dependencies.memory, this.#taken);
    this.#taken = (this.#taken + 1) >>> 0;
    this.#admission = body.admission;
    return body;
  }

  #decode(body: Body): void {
    const { json, remoteWrite, otlp, replay, history, counters } = this.#dependencies;
    this.#unit.admission = body.admission;
    this.#unit.bodies++;
    this.#unit.bodyBytes += body.bytes;
    counters.add("bodies", 1);
    counters.add("bodyBytes", body.bytes);
    if (goesAside(body)) {
      this.#asideBaseMs = this.#unit.baseMs;
      this.#settleAside(body, this.#asideDecoder(body).begin(body, this.#unit));
    } else if (body.kind >= BODY_OTLP) this.#settle(body, otlp.begin(body, this.#unit));
    else if (body.kind === BODY_REMOTE_WRITE_1 || body.kind === BODY_REMOTE_WRITE_2)
      this.#settle(body, remoteWrite.begin(body, this.#unit));
    else if (body.kind === BODY_IMPORT_CSV || body.kind === BODY_IMPORT_JSON) this.#settle(body, history.begin(body, this.#unit));
    else if (body.kind === BODY_REPLAY || body.kind === BODY_REPLAY_HISTORY) this.#settle(body, replay.decode(body, this.#unit));
    else this.#settle(body, json.begin(body, this.#unit));
  }

  #settle(body: Body, answer: BodyAnswer | undefined): void {
    this.#unfinished = answer === undefined ? body : undefined;
    if (answer !== undefined) this.#unit.answers.push(isLarge(body) ? { ...answer, isLarge: true } : answer);
  }

  #commit(): void {
    const { kernel, placement, outbox, counters } = this.#dependencies;
    const unit = this.#unit;
    const rowBytes = (destination: number) => kernel.stagedBytes(destination);
    const parts = unit.logParts(rowBytes);
    if (parts.length === 0) {
      if (unit.answers.length > 0) placement.refuse(unit.answers);
      return;
    }
    const position = this.#append(parts);
    if (position === undefined) return;
    this.#usage.addAll(unit.usage.entries);
    for (const { frame, payload } of unit.opaqueFrames) outbox.sendView(frame, payload);
    counters.add("rowsPlaced", kernel.stagedRows());
    placement.begin(unit, position, rowBytes);
    this.#dependencies.applyOwn(unit, rowBytes(placement.self));
    unit.committed();
    this.#dependencies.remoteWrite.saved();
    this.#dependencies.labels.saved();
  }

  /** Appends the unit to the log; undefined when the log refused it: nothing of it counts then, and its bodies are answered 503. */
  #append(parts: Uint8Array[]): LogWriter["position"] | undefined {
    const { log, counters, monotonicMs } = this.#dependencies;
    const before = log.bytesWritten;
    const startMs = monotonicMs();
    try {
      const { blockKinds: kinds, admission, baseMs, opaqueCount } = this.#unit;
      const rows = this.#dependencies.kernel.stagedRows() + opaqueCount;
      const position = log.append({ kinds, admission, baseMs, rows }, parts);
      const seconds = (monotonicMs() - startMs) / 1000;
      counters.add("logBlocks", 1);
      counters.add("logBytes", log.bytesWritten - before);
      counters.add("commitSecondsTotal", seconds);
      counters.raise("commitMaxSeconds", seconds);
      return position;
    } catch (error) {
      if (!(error instanceof LogWriteError)) throw error;
      this.#refuseUnit(error);
      return undefined;
    }
  }

  #refuseUnit(error: LogWriteError): void {
    const { counters, placement, requestId, kernel, remoteWrite, labels } = this.#dependencies;
    const unit = this.#unit;
    counters.add("logErrors", 1);
    const begun = this.#unfinished ?? (this.#hasAside ? this.#aside : undefined);
    const message = `the log cannot be written (${error.code}); send this request again later, what is stored of it already is not stored twice`;
    const refused = refusedAnswer({ code: "store_unavailable", message }, requestId(unit.admission));
    const answers = unit.answers.map(({ isLarge: large = false }) => ({ ...refused, isLarge: large }));
    placement.refuse(begun === undefined ? answers : [...answers, { ...refused, isLarge: isLarge(begun) }]);
    if (begun === this.#aside) this.#aside = undefined;
    this.#unfinished = undefined;
    unit.dropOpaque();
    remoteWrite.forget();
    labels.forget();
    kernel.stagingReset(this.#options.engines);
  }
}

function isJson({ kind }: Body): boolean {
  return kind === BODY_JSON_SINGLE || kind === BODY_JSON_BATCH;
}

function isLarge({ pointer }: Body): boolean {
  return pointer === LARGE_BODY;
}

/** Whether a body is one that others overtake: a large one whose decoder needs nothing of the kernel from one turn to the next, or says when it does. */
function goesAside(body: Body): boolean {
  if (!isLarge(body)) return false;
  if (body.kind < BODY_OTLP) return isJson(body);
  const { signal, encoding } = otlpOfBodyKind(body.kind);
  return encoding === "json" || signal === "logs";
}
