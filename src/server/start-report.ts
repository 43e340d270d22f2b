// What the log says of a start: what is opened and how large it is, how far a long start is, and how long it took.
import { statSync } from "node:fs";
import { join } from "node:path";
import { measureSegments } from "../adapters/log/log-segment.ts";
import { logDirectory } from "../adapters/log/meta-file.ts";
import { MIB } from "../core/config/byte-units.ts";
import { every, task } from "../core/faults/guard.ts";
import type { Log } from "../core/telemetry/log-event.ts";

/** A start that takes longer says how far it is, and again after as long. */
const PROGRESS_MS = 5_000;

export interface StartReportDependencies {
  readonly log: Log;
  readonly monotonicMs: () => number;
  /** Step and progress of the start; null once the server serves. */
  readonly progress: () => string | null;
}

/** Says what is opened; called before what may take long. */
export function reportOpening(dataDir: string, log: Log): void {
  const { bytes, segments } = measureSegments(logDirectory(dataDir));
  const fields = {
    data_dir: dataDir,
    control_mib: storeMib(dataDir, "control"),
    series_mib: storeMib(dataDir, "series"),
    log_mib: mib(bytes),
    log_segments: segments,
  };
  log("info", "opening the data folder: both stores, then log rows that are not in them yet", fields);
}

/** Says how far the start is until it is ended. Returns what ends it, and gives its seconds. */
export function followStart({ log, monotonicMs, progress }: StartReportDependencies, everyMs = PROGRESS_MS): () => number {
  const startMs = monotonicMs();
  const seconds = () => Math.round(monotonicMs() - startMs) / 1000;
  const timer = every(everyMs, task("the report on the start"), () => {
    const text = progress();
    if (text !== null) log("info", `still starting: ${text}`, { seconds: seconds() });
  });
  timer.unref();
  return () => {
    clearInterval(timer);
    return seconds();
  };
}

function storeMib(dataDir: string, store: string): number {
  return mib(statSync(join(dataDir, store, "data.mdb"), { throwIfNoEntry: false })?.size ?? 0);
}

function mib(bytes: number): number {
  return Math.round((bytes / MIB) * 10) / 10;
}
