// What engines could not read of the logs, gathered over all of them: one line for the operator, and the faults to keep. Several engines read the same log and meet the same flaw.
import { basename } from "node:path";
import type { DataFault, LogFlaw } from "../../core/protocol/data-fault.ts";

/** Report of the start on the logs. */
export interface LogFindings {
  readonly faults: readonly DataFault[];
  /** Null where there is nothing to say. */
  readonly warning: string | null;
  /** Size of writes that a kill cut off. */
  readonly tornBytes: number;
}

/** Gathers flaws until every engine has read the logs. */
export class LogFlaws {
  readonly #found = new Map<string, LogFlaw>();

  add(flaws: readonly LogFlaw[]): void {
    for (const flaw of flaws) {
      const key = `${flaw.path} ${flaw.offset}`;
      const known = this.#found.get(key);
      // An engine that began to read behind the last whole block cannot count what is missing.
      const counts = flaw.blocks !== null || flaw.kind === "damaged";
      if (known === undefined || (known.blocks === null && counts)) this.#found.set(key, flaw);
    }
  }

  /** By the names of segments: where the blocks end behind which a kill cut a write off. To be asked for once all engines are ready. */
  tornEnds(): ReadonlyMap<string, number> {
    const ends = [...this.#found.values()].filter(({ kind, blocks }) => kind === "torn" && blocks === null);
    return new Map(ends.map(({ path, offset }) => [basename(path), offset]));
  }

  /** To be asked for once all engines are ready. */
  findings(damagedFolder: string): LogFindings {
    const flaws = [...this.#found.values()];
    const damages = flaws.filter(({ kind }) => kind === "damaged");
    const tornBytes = flaws.reduce((sum, { kind, bytes }) => sum + (kind === "torn" ? bytes : 0), 0);
    if (damages.length === 0) return { faults: [], warning: null, tornBytes };
    const faults = damages.map((flaw): DataFault => {
      const id = `log ${basename(flaw.path)} ${flaw.offset}`;
      return { id, kind: "log_damaged", what: describe(flaw, damagedFolder) };
    });
    const rows = damages.reduce((sum, flaw) => sum + (flaw.rows ?? 0), 0);
    const blocks = damages.reduce((sum, flaw) => sum + (flaw.blocks ?? 0), 0);
    const uncounted = damages.filter((flaw) => flaw.blocks === null).length;
    const places = uncounted === 0 ? "" : `, and at ${uncounted} ${uncounted === 1 ? "place" : "places"} the number is not known`;
    const bytes = damages.reduce((sum, flaw) => sum + (flaw.isGone === true ? 0 : flaw.bytes), 0);
    const warning =
      `the log is damaged: ${rows} rows in ${blocks} blocks cannot be read${places}; what checkpoints do not hold of them is lost, also later rows of series that ` +
      `were named there first; everything else was read. ${bytes} bytes are kept in ${damagedFolder}; ` +
      "/healthz says degraded until POST /api/v1/data-faults/acknowledge";
    return { faults, warning, tornBytes };
  }
}

function describe({ path, offset, bytes, isGone, blocks, rows }: LogFlaw, damagedFolder: string): string {
  const what = `${blocks === null ? "rows that cannot be counted" : `${rows} rows in ${blocks} blocks`} of ${basename(path)}`;
  const range = `bytes ${offset} to ${offset + bytes}`;
  if (isGone === true) return `${what} are gone: ${range} are not there any more`;
  return bytes === 0 ? `${what} before byte ${offset} are missing` : `${what} cannot be read: ${range}, kept in ${damagedFolder}`;
}
