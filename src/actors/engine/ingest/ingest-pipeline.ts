// The ingest: takes bodies from the front, decodes them into units of work, commits each unit to the log, hands the rows to the shards,
// and lets the answers go. Nothing here waits; `step` does what can be done now and says whether that was anything.
import type { LogWriter } from "../../../adapters/log/log-writer.ts";
import { LogWriteError } from "../../../adapters/log/log-writer.ts";
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import type { Refusal } from "../../../api/refusal.ts";
import { BODIES_ASIDE_MAX } from "../../../core/config/body-limits.ts";
import { BATCH_RECORDS_MAX, WORK_BODY_BYTES_MAX, WORK_ROWS_MAX } from "../../../core/config/limits.ts";
import {
  BODY_ACCEPTED_LEVELS,
  BODY_OTLP,
  BODY_REMOTE_WRITE_1,
  BODY_REMOTE_WRITE_2,
  BODY_REPLAY,
  BODY_REPLAY_HISTORY,
  isHistoryBody,
} from "../../../core/protocol/body-kind.ts";
import type { TenantUsage } from "../../../core/protocol/coordinator-frame.ts";
import { STATUS_SET_ASIDE } from "../../../core/protocol/engine-control.ts";
import { UsageTally } from "../../../domain/access/usage-tally.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import type { MetadataBook } from "../../../domain/series/metadata-book.ts";
import type { HistoryDecoder } from "../history/history-decoder.ts";
import type { ReplayDecoder } from "../history/replay-decoder.ts";
import type { DetectionStages } from "../report/detection-stages.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Outbox } from "../report/outbox.ts";
import { type Body, isLarge, readBody, refusedAnswer } from "../unit/body.ts";
import type { BodyDecoder } from "../unit/body-decoder.ts";
import type { LabelIntake } from "../unit/label-intake.ts";
import type { LevelIntake } from "../unit/level-intake.ts";
import type { MetricScopes } from "../unit/metric-scopes.ts";
import type { Debt } from "../unit/unit-debts.ts";
import { type BodyAnswer, WorkUnit } from "../unit/work-unit.ts";
import { AsideBodies, type BegunBody } from "./aside-bodies.ts";
import type { BodyDecoders, DecoderKind } from "./body-decoders.ts";
import type { Placement } from "./placement.ts";

export interface IngestOptions {
  readonly engines: number;
}

export interface IngestDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly log: LogWriter;
  readonly placement: Placement;
  readonly exclusions: FieldExclusions;
  readonly replay: ReplayDecoder;
  readonly history: HistoryDecoder;
  readonly levels: LevelIntake;
  readonly labels: LabelIntake;
  readonly scopes: MetricScopes;
  readonly metadata: MetadataBook;
  readonly make: BodyDecoders["make"];
  readonly outbox: Outbox;
  /** False while history has to wait. */
  readonly takesHistory: () => boolean;
  readonly counters: EngineCounters;
  readonly stages: DetectionStages;
  readonly monotonicMs: () => number;
  readonly requestId: (admission: number) => string;
  /** Hands this engine's own share of a committed unit to its shard. */
  readonly applyOwn: (unit: WorkUnit, rowBytes: number) => void;
  readonly answer: (answers: readonly BodyAnswer[]) => void;
}

/** Takes bodies for one engine. */
export class IngestPipeline {
  readonly #options: IngestOptions;
  readonly #dependencies: IngestDependencies;
  readonly #unit: WorkUnit;
  /** Usage of the blocks since `takeUsage`. */
  readonly #usage = new UsageTally();
  #taken = 0;
  /** A body that needs a further unit before any other has its turn. */
  #unfinished: BegunBody | undefined;
  /** Bodies that others overtake, whether the turn is theirs next, and the one of them that the unit at hand has something of. */
  readonly #aside: AsideBodies;
  #isAsideNext = false;
  #hasAside: BegunBody | undefined;
  /** Decoders without a body. */
  readonly #free: Record<DecoderKind, BodyDecoder[]> = { json: [], remoteWrite: [], otlp: [] };
  /** Admission number of the last body that was taken. */
  #admission = 0;

  constructor(options: IngestOptions, dependencies: IngestDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#unit = new WorkUnit(dependencies.memory, dependencies.kernel, options.engines, dependencies.exclusions);
    this.#aside = new AsideBodies(dependencies.memory);
  }

  /** Bodies that the front has published and this ingest has not begun. */
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
    const isDone = this.waiting === 0 && this.#unfinished === undefined && this.#aside.isEmpty;
    return isDone && this.#dependencies.placement.isIdle;
  }

  step(): boolean {
    const { placement, outbox } = this.#dependencies;
    let did = placement.isBusy && placement.flush();
    did = this.#release() || did;
    if (placement.isBusy || outbox.isOverLimit) return did;
    if (this.waiting === 0 && this.#unfinished === undefined && this.#aside.isEmpty) return did;
    const waits = !this.#dependencies.takesHistory() && this.#isHistoryNext();
    if (waits && this.#aside.isEmpty) return did;
    this.#work(waits || this.waiting === 0);
    return true;
  }

  /** Records and verdicts go first: who was answered and asks finds them in the ring. */
  #release(): boolean {
    const answers = this.#dependencies.placement.takeAnswers();
    if (answers.length === 0) return false;
    this.#dependencies.outbox.flush();
    this.#dependencies.answer(answers);
    return true;
  }

  /** Decodes one unit of work, commits it and hands it on; `noOther`: no body may begin. */
  #work(noOther: boolean): void {
    this.#dependencies.kernel.stagingReset(this.#options.engines);
    this.#hasAside = undefined;
    const goesOn = this.#unfinished === undefined && (this.#isAsideNext || noOther) ? this.#aside.take() : undefined;
    if (this.#unfinished !== undefined) this.#continue(this.#unfinished);
    else if (goesOn !== undefined) this.#continue(goesOn);
    else this.#begin();
    if (goesOn === undefined) {
      while (this.#unfinished === undefined && this.#hasCapacity() && this.#mayJoin()) this.#decode(this.#takeBody(), false);
    }
    this.#isAsideNext = goesOn === undefined && this.#hasAside === undefined;
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
    this.#dependencies.stages.received(body.arrivalMs);
    this.#decode(body, true);
  }

  /** Others may have been committed meanwhile: of the unit's numbers only what its rows count from is the body's. */
  #continue(begun: BegunBody): void {
    this.#unit.begin(this.#admission, begun.body.wallMs, begun.body.arrivalMs, begun.debt);
    this.#unit.baseMs = begun.baseMs;
    this.#settle(begun, begun.decoder.resume(begun.body, this.#unit), true);
  }

  /** A body that is not done is overtaken, and answered by itself when it is. History keeps to itself; one that shared its unit may be done with the next. */
  #settle(begun: BegunBody, answer: BodyAnswer | undefined, hadUnit: boolean): void {
    const { body, overtaken } = begun;
    this.#unfinished = undefined;
    if (answer !== undefined) {
      this.#answer(begun, answer);
      this.#end(begun);
    } else if (overtaken === undefined || (!hadUnit && !isLarge(body))) this.#unfinished = begun;
    else if (!this.#aside.add(begun, overtaken)) {
      this.#answer(begun, refusedAnswer(CROWDED, this.#dependencies.requestId(body.admission)));
      this.#end(begun);
    } else {
      this.#hasAside = begun;
      if (!isLarge(body) && !begun.isAnnounced) this.#note(SET_ASIDE, body);
    }
  }

  #answer(begun: BegunBody, answer: BodyAnswer): void {
    const { body, isAnnounced, debt } = begun;
    this.#note(isLarge(body) ? { ...answer, isLarge: true } : isAnnounced ? { ...answer, admission: body.admission } : answer, body, debt);
  }

  /** The unit's next answer, behind the rows of its body. */
  #note(answer: BodyAnswer, { admission }: Body, debt?: Debt): void {
    const { kernel, placement } = this.#dependencies;
    this.#unit.answers.push(answer);
    this.#unit.debts.add(admission, kernel.stagedBytes(placement.self), debt);
  }

  #end(begun: BegunBody): void {
    this.#aside.end(begun);
    if (begun.overtaken !== undefined) this.#free[decoderKind(begun.body)].push(begun.overtaken);
  }

  #hasCapacity(): boolean {
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

  /** Decodes a body; `isFirst`: of its unit. */
  #decode(body: Body, isFirst: boolean): void {
    const { replay, history, levels, counters } = this.#dependencies;
    const unit = this.#unit;
    unit.admission = body.admission;
    unit.bodies++;
    unit.bodyBytes += body.bytes;
    counters.add("bodies", 1);
    counters.add("bodyBytes", body.bytes);
    if (body.kind === BODY_REPLAY || body.kind === BODY_REPLAY_HISTORY) {
      this.#note(replay.decode(body, unit), body);
      return;
    }
    if (body.kind === BODY_ACCEPTED_LEVELS) {
      this.#note(levels.decode(body, unit), body);
      return;
    }
    const overtaken = isHistoryBody(body.kind) ? undefined : this.#decoderOf(body);
    const decoder = overtaken ?? history;
    const answer = decoder.begin(body, unit);
    this.#settle({ body, decoder, overtaken, baseMs: unit.baseMs, isAnnounced: false, debt: undefined }, answer, isFirst);
  }

  #decoderOf(body: Body): BodyDecoder {
    const kind = decoderKind(body);
    return this.#free[kind].pop() ?? this.#dependencies.make[kind]();
  }

  #commit(): void {
    const { kernel, placement, outbox, counters } = this.#dependencies;
    const unit = this.#unit;
    this.#dependencies.stages.decoded();
    const rowBytes = (destination: number) => kernel.stagedBytes(destination);
    const parts = unit.logParts(rowBytes);
    const position = parts.length === 0 ? undefined : this.#append(parts);
    if (parts.length > 0 && position === undefined) return;
    if (this.#hasAside !== undefined) this.#hasAside.isAnnounced = true;
    if (position === undefined) {
      if (unit.answers.length > 0) placement.refuse(unit.answers);
      return;
    }
    this.#usage.addAll(unit.usage.entries);
    for (const { frame, payload } of unit.opaqueFrames) outbox.sendView(frame, payload);
    counters.add("rowsPlaced", kernel.stagedRows());
    placement.begin(unit, position, rowBytes);
    this.#dependencies.applyOwn(unit, rowBytes(placement.self));
    const begun = this.#hasAside ?? this.#unfinished;
    if (begun !== undefined) begun.debt = this.#debtOf(begun);
    unit.committed();
    this.#dependencies.metadata.saved();
    this.#dependencies.labels.saved();
    this.#dependencies.scopes.saved();
  }

  /** What is owed of a body that goes on: of those of a unit it was announced with the last, or it is the last of all. */
  #debtOf({ body, debt }: BegunBody): Debt | undefined {
    const { debts } = this.#unit;
    const index = debts.admissions.lastIndexOf(body.admission);
    return debts.of(index < 0 ? undefined : index) ?? debt;
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

  /** Refuses the unit and what has begun with it: what the log does not hold of it may have been told to the shards already as if it did. */
  #refuseUnit(error: LogWriteError): void {
    const { counters, placement, requestId, kernel, metadata, labels, scopes } = this.#dependencies;
    const unit = this.#unit;
    counters.add("logErrors", 1);
    const message = `the log cannot be written (${error.code}); send this request again later, what is stored of it already is not stored twice`;
    const refused = refusedAnswer({ code: "store_unavailable", message }, requestId(unit.admission));
    unit.answers = unit.answers.map(({ isLarge: large = false, admission }) => ({
      ...refused,
      isLarge: large,
      ...(admission === undefined ? {} : { admission }),
    }));
    const begun = this.#unfinished === undefined ? this.#aside.drop() : [this.#unfinished, ...this.#aside.drop()];
    for (const each of begun) {
      if (each === this.#unfinished || isLarge(each.body) || each.isAnnounced) this.#answer(each, refused);
      this.#end(each);
    }
    placement.refuse(unit.answers);
    this.#unfinished = undefined;
    unit.dropOpaque();
    metadata.forgetUnsaved();
    kernel.keyTableClear();
    labels.forget();
    scopes.forget();
    kernel.stagingReset(this.#options.engines);
  }
}

const SET_ASIDE: BodyAnswer = { status: STATUS_SET_ASIDE, body: null };
const CROWDED: Refusal = {
  code: "overloaded",
  message: `more than ${BODIES_ASIDE_MAX / 2} requests of this tenant that take long are under way; send this one again later, what is stored of it already is not stored twice`,
};

function decoderKind({ kind }: Body): DecoderKind {
  if (kind >= BODY_OTLP) return "otlp";
  return kind === BODY_REMOTE_WRITE_1 || kind === BODY_REMOTE_WRITE_2 ? "remoteWrite" : "json";
}
