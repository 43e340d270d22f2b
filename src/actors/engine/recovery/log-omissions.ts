// Leaves out of the logs what notes name: samples become dead letters, whatever else it is is reported with its bytes, so that it is kept.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { hash128 } from "../../../core/hashing/hash128.ts";
import { BASE_LEAD_MS, ROW_BYTES, ROW_OFFSET, ROW_VALUE } from "../../../core/layout/row-frame.ts";
import { type DeadLetterEnvelope, FRAME_DEAD_LETTER, type LogPosition } from "../../../core/protocol/coordinator-frame.ts";
import type { CrashNote } from "../../../core/protocol/crash-note.ts";
import { type SetAsideItem, UNSTORABLE } from "../../../core/protocol/set-aside.ts";
import { formatRfc3339 } from "../../../core/time/rfc3339.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { Outbox } from "../report/outbox.ts";
import type { Shard } from "../shard/shard.ts";
import { slotOfRow } from "../shard/traced-items.ts";
import type { Section } from "../unit/work-unit.ts";
import { type BlockMarks, LeftOut } from "./left-out.ts";

/** A block of the log, as far as it is asked what of it is left out. */
interface OmittedBlock {
  readonly epoch: number;
  readonly writer: number;
  readonly header: { readonly baseMs: number };
  readonly end: LogPosition;
}

export interface LogOmissionsDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly shard: Shard;
  readonly outbox: Pick<Outbox, "sendJson">;
}

/** Omissions of one start. */
export class LogOmissions {
  readonly #leftOut: LeftOut;
  readonly #dependencies: LogOmissionsDependencies;
  readonly #found = new Map<string, SetAsideItem>();

  constructor(notes: readonly CrashNote[], dependencies: LogOmissionsDependencies) {
    this.#leftOut = new LeftOut(notes);
    this.#dependencies = dependencies;
  }

  /** What was left out, besides samples. */
  get found(): readonly SetAsideItem[] {
    return [...this.#found.values()];
  }

  marksOf({ epoch, writer, end }: OmittedBlock): BlockMarks | undefined {
    return this.#leftOut.of(epoch, writer, end);
  }

  /** Whether a section is left out as a whole. */
  takes(section: Section, block: OmittedBlock, marks: BlockMarks): boolean {
    if (!marks.leavesOut(section.kind)) return false;
    this.#keep(
      `section-${section.kind}`,
      `section ${section.kind} of a block of the log (${positionKey(block)})`,
      marks,
      block,
      section.payload,
    );
    return true;
  }

  takesMessage(kind: number, item: string, payload: Uint8Array, block: OmittedBlock, marks: BlockMarks): boolean {
    if (marks.items(kind)?.has(item) !== true) return false;
    this.#keep(`message-${kind}-${hash128(item)}`, `a message of kind ${kind} in the log (${positionKey(block)})`, marks, block, payload);
    return true;
  }

  /** Takes rows that are named out of `rows` from `pointer` on; answers how many are left. */
  rows(pointer: number, rows: number, items: ReadonlySet<string>, block: OmittedBlock, marks: BlockMarks): number {
    const { memory, shard } = this.#dependencies;
    let to = pointer;
    for (let row = pointer; row < pointer + rows * ROW_BYTES; row += ROW_BYTES) {
      const item = shard.items.row(row);
      if (item !== null && items.has(item)) this.#sendLetter(row, item, block, marks);
      else {
        memory.bytes.copyWithin(to, row, row + ROW_BYTES);
        to += ROW_BYTES;
      }
    }
    return (to - pointer) / ROW_BYTES;
  }

  #sendLetter(row: number, item: string, block: OmittedBlock, marks: BlockMarks): void {
    const { memory, shard, outbox } = this.#dependencies;
    const slot = slotOfRow(this.#dependencies, row);
    if (slot === undefined) return;
    const { tenant, environment, serviceId, metricName, attributes } = shard.nameOf(slot);
    const { baseMs } = block.header;
    const timeMs = baseMs + (memory.uint32s[(row + ROW_OFFSET) >>> 2] as number);
    const letter: DeadLetterEnvelope = {
      tenant,
      id: hash128(`${positionKey(block)} ${item}`),
      reason: UNSTORABLE,
      field: null,
      message: `this sample was taken and cannot be applied: ${marks.reason}`,
      topic: "storage",
      receivedMs: baseMs + BASE_LEAD_MS,
      payload: {
        service_id: serviceId,
        metric_name: metricName,
        environment,
        attributes,
        value: memory.view.getFloat64(row + ROW_VALUE, true),
        timestamp: formatRfc3339(timeMs),
      },
    };
    outbox.sendJson(FRAME_DEAD_LETTER, letter);
  }

  #keep(part: string, what: string, { reason }: BlockMarks, block: OmittedBlock, payload: Uint8Array): void {
    const name = `log-${positionKey(block)}-${part}`;
    if (!this.#found.has(name)) this.#found.set(name, { name, what: `${what} cannot be applied`, reason, bytes: Uint8Array.from(payload) });
  }
}

function positionKey({ epoch, writer, end }: OmittedBlock): string {
  return `e${epoch}-${writer}-${end.segment}-${end.offset}`;
}
