// The lane: takes bodies from the front, decodes them into units of work, commits each unit to the log, hands the rows to the shards,
// and lets the answers go. Nothing here waits; `step` does what can be done now and says whether that was anything.
import type { LogWriter } from "../../adapters/log/log-writer.ts";
import { LogWriteError } from "../../adapters/log/log-writer.ts";
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import { BATCH_RECORDS_MAX, WORK_BODY_BYTES_MAX, WORK_ROWS_MAX } from "../../core/config/limits.ts";
import {
  BODY_IMPORT_CSV,
  BODY_IMPORT_JSON,
  BODY_OTLP,
  BODY_REMOTE_WRITE_1,
  BODY_REMOTE_WRITE_2,
  BODY_REPLAY,
  BODY_REPLAY_HISTORY,
  isHistoryBody,
} from "../../core/protocol/body-kind.ts";
import type { TenantUsage } from "../../core/protocol/coordinator-frame.ts";
import { UsageTally } from "../../domain/access/usage-tally.ts";
import type { LaneExports } from "../../domain/kernel/lane-kernel.ts";
import type { FieldExclusions } from "../../domain/series/field-exclusions.ts";
import { type Body, readBody, refusedAnswer } from "./body.ts";
import type { EngineCounters } from "./engine-counters.ts";
import type { HistoryDecoder } from "./history/history-decoder.ts";
import type { ReplayDecoder } from "./history/replay-decoder.ts";
import type { JsonDecoder } from "./json-decoder.ts";
import type { LabelIntake } from "./label-intake.ts";
import type { OtlpDecoder } from "./otlp/otlp-decoder.ts";
import type { Outbox } from "./outbox.ts";
import type { Placement } from "./placement.ts";
import type { RemoteWriteDecoder } from "./remote-write-decoder.ts";
import { type BodyAnswer, WorkUnit } from "./work-unit.ts";

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
    return this.waiting === 0 && this.#unfinished === undefined && this.#dependencies.placement.isIdle;
  }

  step(): boolean {
    const { placement, outbox } = this.#dependencies;
    let did = placement.isBusy && placement.place();
    did = this.#release() || did;
    if (placement.isBusy || outbox.isOverLimit) return did;
    if (this.waiting === 0 && this.#unfinished === undefined) return did;
    if (!this.#dependencies.takesHistory() && this.#isHistoryNext()) return did;
    this.#work();
    return true;
  }

  /** Records and verdicts go first: who was answered and asks finds them in the ring. */
  #release(): boolean {
    this.#dependencies.outbox.flush();
    const answers = this.#dependencies.placement.takeAnswers();
    if (answers.length > 0) this.#dependencies.answer(answers);
    return answers.length > 0;
  }

  /** Decodes one unit of work, commits it and hands it on. */
  #work(): void {
    const { kernel } = this.#dependencies;
    kernel.stagingReset(this.#options.engines);
    if (this.#unfinished !== undefined) this.#continue(this.#unfinished);
    else this.#begin();
    while (this.#unfinished === undefined && this.#hasRoom() && this.#mayJoin()) this.#decode(this.#takeBody());
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
    this.#unit.begin(body.admission, body.wallMs, body.arrivalMs);
    this.#unit.baseMs = base;
    const { remoteWrite, otlp, history } = this.#dependencies;
    const decoder = isHistoryBody(body.kind) ? history : body.kind >= BODY_OTLP ? otlp : remoteWrite;
    this.#settle(body, decoder.resume(body, this.#unit));
  }

  #hasRoom(): boolean {
    const unit = this.#unit;
    return (
      this.#dependencies.kernel.stagedRows() + BATCH_RECORDS_MAX <= WORK_ROWS_MAX && unit.bodyBytes + unit.opaqueBytes < WORK_BODY_BYTES_MAX
    );
  }

  #takeBody(): Body {
    const body = readBody(this.#dependencies.memory, this.#taken);
    this.#taken = (this.#taken + 1) >>> 0;
    return body;
  }

  #decode(body: Body): void {
    const { json, remoteWrite, otlp, replay, history, counters } = this.#dependencies;
    this.#unit.admission = body.admission;
    this.#unit.bodies++;
    this.#unit.bodyBytes += body.bytes;
    counters.add("bodies", 1);
    counters.add("bodyBytes", body.bytes);
    if (body.kind >= BODY_OTLP) this.#settle(body, otlp.begin(body, this.#unit));
    else if (body.kind === BODY_REMOTE_WRITE_1 || body.kind === BODY_REMOTE_WRITE_2)
      this.#settle(body, remoteWrite.begin(body, this.#unit));
    else if (body.kind === BODY_IMPORT_CSV || body.kind === BODY_IMPORT_JSON) this.#settle(body, history.begin(body, this.#unit));
    else if (body.kind === BODY_REPLAY || body.kind === BODY_REPLAY_HISTORY) this.#unit.answers.push(replay.decode(body, this.#unit));
    else this.#unit.answers.push(json.decode(body, this.#unit));
  }

  #settle(body: Body, answer: BodyAnswer | undefined): void {
    this.#unfinished = answer === undefined ? body : undefined;
    if (answer !== undefined) this.#unit.answers.push(answer);
  }

  #commit(): void {
    const { kernel, placement, outbox, counters } = this.#dependencies;
    const unit = this.#unit;
    const rowBytes = (destination: number) => kernel.stagedBytes(destination);
    const parts = unit.logParts(rowBytes);
    if (parts.length === 0) {
      placement.refuse(unit.answers);
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
      const position = log.append({ kinds: this.#unit.blockKinds, admission: this.#unit.admission, baseMs: this.#unit.baseMs }, parts);
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
    const bodies = unit.answers.length + (this.#unfinished === undefined ? 0 : 1);
    const message = `the log cannot be written (${error.code}); send this request again later, what is stored of it already is not stored twice`;
    const refused = refusedAnswer({ code: "store_unavailable", message }, requestId(unit.admission));
    placement.refuse(Array.from({ length: bodies }, () => refused));
    this.#unfinished = undefined;
    unit.dropOpaque();
    remoteWrite.forget();
    labels.forget();
    kernel.stagingReset(this.#options.engines);
  }
}
