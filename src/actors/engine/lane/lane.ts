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
  isHistoryBody,
} from "../../../core/protocol/body-kind.ts";
import type { TenantUsage } from "../../../core/protocol/coordinator-frame.ts";
import { STATUS_SET_ASIDE } from "../../../core/protocol/engine-control.ts";
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
import { type AsideBody, BodiesAside } from "./bodies-aside.ts";
import type { BodyDecoders, LaneDecoders } from "./lane-decoders.ts";
import type { Placement } from "./placement.ts";

export interface LaneOptions {
  readonly engines: number;
}

export interface LaneDependencies {
  readonly memory: EngineMemory;
  readonly kernel: LaneExports;
  readonly log: LogWriter;
  readonly placement: Placement;
  readonly remoteWrite: RemoteWriteDecoder;
  readonly exclusions: FieldExclusions;
  readonly replay: ReplayDecoder;
  readonly history: HistoryDecoder;
  readonly labels: LabelIntake;
  readonly makeBodyDecoders: LaneDecoders["makeBodyDecoders"];
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
  /** Decoders of the body that is taken next, and bodies that have theirs and go on in turns with all others. */
  #decoders: BodyDecoders;
  readonly #aside: BodiesAside;
  /** Whether the next turn is theirs. */
  #isAsideNext = false;
  /** One of them that the kernel is in the middle of. */
  #asideInKernel: AsideBody | undefined;
  /** Those of which the unit at hand has something. */
  #asideAtHand: Array<{ readonly aside: AsideBody; readonly isNew: boolean }> = [];
  /** Of the last body that was taken. */
  #admission = 0;

  constructor(options: LaneOptions, dependencies: LaneDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#unit = new WorkUnit(dependencies.memory, dependencies.kernel, options.engines, dependencies.exclusions);
    this.#aside = new BodiesAside(dependencies.makeBodyDecoders);
    this.#decoders = this.#aside.takeDecoders();
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
    const isDone = this.waiting === 0 && this.#unfinished === undefined && this.#aside.size === 0;
    return isDone && this.#dependencies.placement.isIdle;
  }

  step(): boolean {
    const { placement, outbox } = this.#dependencies;
    let did = placement.isBusy && placement.place();
    did = this.#release() || did;
    if (placement.isBusy || outbox.isOverLimit) return did;
    if (this.waiting === 0 && this.#unfinished === undefined && this.#aside.size === 0) return did;
    const waits = !this.#dependencies.takesHistory() && this.#isHistoryNext();
    if (waits && this.#aside.size === 0) return did;
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
    this.#asideAtHand = [];
    const isTheirs = this.#unfinished === undefined && (this.#isAsideNext || noOther);
    const goesOn = this.#asideInKernel ?? (isTheirs ? this.#aside.next() : undefined);
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
    const { remoteWrite, history } = this.#dependencies;
    if (mayGoAside(body)) this.#settleBegun(body, this.#decoderOf(body, this.#decoders).resume(body, this.#unit), base);
    else this.#settle(body, this.#kernelDecoder(body, remoteWrite, history).resume(body, this.#unit));
  }

  /** Others have been committed meanwhile: of the unit's numbers only what its rows count from is the body's. */
  #continueAside(aside: AsideBody): void {
    const { body, baseMs, decoders } = aside;
    this.#unit.begin(this.#admission, body.wallMs, body.arrivalMs);
    this.#unit.baseMs = baseMs;
    const answer = this.#decoderOf(body, decoders).resume(body, this.#unit);
    this.#asideInKernel = answer !== undefined || isJson(body) || decoders.otlp.isAtRest ? undefined : aside;
    if (answer === undefined) {
      this.#asideAtHand.push({ aside, isNew: false });
      return;
    }
    this.#aside.remove(aside);
    this.#unit.answers.push(isLarge(body) ? { ...answer, isLarge: true } : { ...answer, overtakenAt: body.place });
  }

  #decoderOf(body: Body, { json, otlp }: BodyDecoders): JsonDecoder | OtlpDecoder {
    return isJson(body) ? json : otlp;
  }

  #kernelDecoder(body: Body, remoteWrite: RemoteWriteDecoder, history: HistoryDecoder): RemoteWriteDecoder | HistoryDecoder | OtlpDecoder {
    if (isHistoryBody(body.kind)) return history;
    return body.kind >= BODY_OTLP ? this.#decoders.otlp : remoteWrite;
  }

  /** A body that is not done lets others overtake it, unless the kernel is in the middle of it or too many have been set aside. */
  #settleBegun(body: Body, answer: BodyAnswer | undefined, baseMs: number): void {
    const decoders = this.#decoders;
    const isAtRest = answer === undefined && (isJson(body) || decoders.otlp.isAtRest);
    if (!isAtRest || !(isLarge(body) || this.#aside.hasRoom(body.tenant))) {
      this.#settle(body, answer);
      return;
    }
    const aside = { body, baseMs, decoders };
    this.#unfinished = undefined;
    this.#aside.add(aside);
    this.#asideAtHand.push({ aside, isNew: true });
    this.#decoders = this.#aside.takeDecoders();
    if (!isLarge(body)) this.#unit.answers.push({ status: STATUS_SET_ASIDE, body: null });
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
    const { remoteWrite, replay, history, counters } = this.#dependencies;
    const { otlp } = this.#decoders;
    this.#unit.admission = body.admission;
    this.#unit.bodies++;
    this.#unit.bodyBytes += body.bytes;
    counters.add("bodies", 1);
    counters.add("bodyBytes", body.bytes);
    if (mayGoAside(body)) this.#settleBegun(body, this.#decoderOf(body, this.#decoders).begin(body, this.#unit), this.#unit.baseMs);
    else if (body.kind >= BODY_OTLP) this.#settle(body, otlp.begin(body, this.#unit));
    else if (body.kind === BODY_REMOTE_WRITE_1 || body.kind === BODY_REMOTE_WRITE_2)
      this.#settle(body, remoteWrite.begin(body, this.#unit));
    else if (body.kind === BODY_IMPORT_CSV || body.kind === BODY_IMPORT_JSON) this.#settle(body, history.begin(body, this.#unit));
    else this.#settle(body, replay.decode(body, this.#unit));
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

  /** Ends bodies of which something was in a unit that is refused. One that was to be set aside in that unit has its answer in its order, the others by themselves. */
  #dropAside(refused: BodyAnswer): BodyAnswer[] {
    for (const { aside } of this.#asideAtHand) this.#aside.drop(aside);
    return this.#asideAtHand
      .filter(({ aside: { body }, isNew }) => isLarge(body) || !isNew)
      .map(({ aside: { body } }) => (isLarge(body) ? { ...refused, isLarge: true } : { ...refused, overtakenAt: body.place }));
  }

  #refuseUnit(error: LogWriteError): void {
    const { counters, placement, requestId, kernel, remoteWrite, labels } = this.#dependencies;
    const unit = this.#unit;
    counters.add("logErrors", 1);
    const message = `the log cannot be written (${error.code}); send this request again later, what is stored of it already is not stored twice`;
    const refused = refusedAnswer({ code: "store_unavailable", message }, requestId(unit.admission));
    const answers: BodyAnswer[] = unit.answers.map(({ isLarge: large = false, overtakenAt }) => ({
      ...refused,
      isLarge: large,
      ...(overtakenAt !== undefined && { overtakenAt }),
    }));
    if (this.#unfinished !== undefined) answers.push({ ...refused, isLarge: isLarge(this.#unfinished) });
    answers.push(...this.#dropAside(refused));
    placement.refuse(answers);
    this.#unfinished = undefined;
    this.#asideInKernel = undefined;
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

/** Whether a body is one that others may overtake: its decoder needs nothing of the kernel from one turn to the next, or says when it does. */
function mayGoAside(body: Body): boolean {
  if (body.kind < BODY_OTLP) return isJson(body);
  const { signal, encoding } = otlpOfBodyKind(body.kind);
  return encoding === "json" || signal === "logs";
}
