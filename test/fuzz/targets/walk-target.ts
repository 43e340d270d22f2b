// What the walks of both versions of remote-write are held to: the kernel's answer, rows and statuses against a strict twin.
import { STATUS_BAD_PROTOBUF } from "../../../src/core/layout/kernel-status.ts";
import { ENGINES, IngestHarness } from "../../support/ingest-harness.ts";
import { type FuzzTarget, must } from "../target.ts";

/** A harness keeps every stream it has seen; after so many inputs a new one begins. */
const INPUTS_PER_HARNESS = 1 << 16;

/** What a walk gives of an input. */
export type Ingested = ReturnType<IngestHarness["ingest"]>;

/** What one version of the protocol has of its own. */
export interface WalkProtocol<Series extends { readonly samples: ArrayLike<unknown> }> extends Pick<FuzzTarget, "tokens" | "write"> {
  readonly version: 1 | 2;
  /** The twin; undefined for a body that it refuses. */
  readonly decode: (input: Uint8Array) => readonly Series[] | undefined;
  /** Holds rows against what the twin has; gives what makes the input unlike others. `seen` has a bit for each status. */
  readonly judge: (ingested: Ingested, decoded: readonly Series[], samples: number, seen: number) => number;
}

/** Over an ingest table that is emptied for each input (`cold`), or over one that knows the streams of the inputs before. */
export function walkTarget<Series extends { readonly samples: ArrayLike<unknown> }>(
  name: string,
  cold: boolean,
  { version, tokens, write, decode, judge }: WalkProtocol<Series>,
): FuzzTarget {
  let harness = new IngestHarness();
  let calls = 0;
  const check = (input: Uint8Array): number => {
    if (++calls % INPUTS_PER_HARNESS === 0) harness = new IngestHarness();
    if (cold) harness.kernel.keyTableClear();
    // The last byte also says how many rows a unit may hold, so that walks stop and go on.
    const last = input[input.length - 1] ?? 0;
    const rows = last % 4 === 3 ? { maxRows: 1 + (last >> 2) } : {};
    harness.kernel.stagingReset(ENGINES);
    harness.kernel.rejectsReset();
    const ingested = harness.ingest(input, { ...rows, version });
    const decoded = decode(input);
    if (decoded === undefined) {
      must(ingested.begun === STATUS_BAD_PROTOBUF, `answered ${ingested.begun} for a body that the twin refuses`);
      return -1;
    }
    const samples = decoded.reduce((sum, each) => sum + each.samples.length, 0);
    must(ingested.begun === samples, `answered ${ingested.begun} instead of ${samples} samples`);
    const seen = ingested.statuses.reduce((set, status) => set | (1 << status), 0);
    return judge(ingested, decoded, samples, seen);
  };
  return { name, bytesMax: 1536, tokens, write, check };
}
