// What becomes of frames that cannot be stored: a dead letter of their tenant where they say whose they are, else bytes in the folder of what is set aside. Each is counted and said.
import { hash128 } from "../../../core/hashing/hash128.ts";
import {
  type DeadLetterEnvelope,
  type EngineFrame,
  FRAME_CLOSING,
  FRAME_DEAD_LETTER,
  FRAME_METADATA,
  FRAME_RECORD,
  FRAME_SERVICE_LABELS,
  FRAME_SET_ASIDE,
  FRAME_VERDICT,
  type MetricMetadataEnvelope,
  type RecordEnvelope,
  type ServiceLabelsEnvelope,
} from "../../../core/protocol/coordinator-frame.ts";
import { UNSTORABLE } from "../../../core/protocol/set-aside.ts";
import { decodeEpisode } from "../../../domain/anomaly/episode-codec.ts";
import type { CoordinatorCounters } from "../../../modules/state/coordinator-counters.ts";
import { DEAD_LETTER } from "../../../modules/state/shared-forms.ts";
import { decodePayload } from "../../../modules/state/stored-json.ts";
import { tenantTimeKey } from "../../../modules/state/tables.ts";
import type { DataFaults } from "../../../modules/status/data-faults.ts";
import { SPARED_KINDS, type UnstorableFrame } from "./frame-sifting.ts";

/** Nothing is stored of it. */
export const SET_ASIDE: EngineFrame = { kind: FRAME_SET_ASIDE, payload: new Uint8Array(0) };

export interface SetAsideFramesDependencies {
  readonly counters: CoordinatorCounters;
  readonly dataFaults: Pick<DataFaults, "setAside">;
  nowMs(): number;
  log(level: "warn", line: string): void;
}

/** Tenant and content of a frame that becomes a letter. */
const CONTENT: Readonly<Record<number, (payload: Uint8Array) => { readonly tenant: string; readonly payload: unknown }>> = {
  [FRAME_RECORD]: (bytes) => {
    const { tenant, record } = decodePayload<RecordEnvelope>(bytes);
    return { tenant, payload: record };
  },
  [FRAME_METADATA]: (bytes) => {
    const { tenant, ...payload } = decodePayload<MetricMetadataEnvelope>(bytes);
    return { tenant, payload };
  },
  [FRAME_SERVICE_LABELS]: (bytes) => {
    const { tenant, ...payload } = decodePayload<ServiceLabelsEnvelope>(bytes);
    return { tenant, payload };
  },
  [FRAME_VERDICT]: verdictContent,
  [FRAME_CLOSING]: verdictContent,
};

function verdictContent(bytes: Uint8Array) {
  const { tenant, ...payload } = decodeEpisode(bytes);
  return { tenant, payload };
}

export class SetAsideFrames {
  readonly #dependencies: SetAsideFramesDependencies;

  constructor(dependencies: SetAsideFramesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Letters for those that can be letters; the others are in the folder when it returns. */
  take(unstorable: readonly UnstorableFrame[]): ReadonlyMap<EngineFrame, EngineFrame | undefined> {
    const taken = new Map(unstorable.map((each) => [each.frame, this.#letterOf(each)] as const));
    for (const each of unstorable) if (taken.get(each.frame) === undefined) this.#keepBytes(each);
    this.#say(unstorable.filter(({ frame }) => taken.get(frame) !== undefined));
    return taken;
  }

  /** A letter that is known to be one that can be stored; undefined where there is none. */
  #letterOf({ frame, error }: UnstorableFrame): EngineFrame | undefined {
    try {
      const content = CONTENT[frame.kind]?.(frame.payload);
      if (content === undefined) return undefined;
      const { tenant, payload } = content;
      const letter: DeadLetterEnvelope = {
        tenant,
        id: hash128(JSON.stringify([frame.kind, content])),
        reason: UNSTORABLE,
        field: null,
        message: `this ${SPARED_KINDS.get(frame.kind)} was taken and cannot be stored: ${error.message}`,
        topic: "storage",
        receivedMs: this.#dependencies.nowMs(),
        payload,
      };
      tenantTimeKey(tenant, letter.receivedMs, letter.id);
      return { kind: FRAME_DEAD_LETTER, payload: DEAD_LETTER.encode(letter).subarray(1) };
    } catch {
      return undefined; // nobody knows whose it is, so its bytes are kept
    }
  }

  #keepBytes({ frame, error }: UnstorableFrame): void {
    const what = `a ${SPARED_KINDS.get(frame.kind)} that engines have sent cannot be stored`;
    const name = `frame-${frame.kind}-${hash128(Buffer.from(frame.payload).toString("latin1"))}`;
    this.#dependencies.dataFaults.setAside({ name, what, reason: error.message, bytes: frame.payload });
  }

  #say(letters: readonly UnstorableFrame[]): void {
    const [first] = letters;
    if (first === undefined) return;
    this.#dependencies.counters.add("setAside", letters.length);
    this.#dependencies.log(
      "warn",
      `set aside ${letters.length} ${letters.length === 1 ? "thing" : "things"} that engines have sent and that cannot be stored ` +
        `(first: ${SPARED_KINDS.get(first.frame.kind)}: ${first.error.message}); see GET /api/v1/dlq?reason=${UNSTORABLE}`,
    );
  }
}
