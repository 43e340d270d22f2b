// What Linux and /metrics tell of a server process, once a second.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ExposedFamily, parseExposition } from "../support/exposition.ts";

const TICKS_PER_SECOND = 100;
const MIB = 2 ** 20;

/** One second. Sizes in MiB, times in milliseconds; NaN where there was nothing to observe. */
export interface SoakSample {
  readonly seconds: number;
  readonly residentMib: number;
  /** Private and shared memory: heaps, stacks, engine memories. */
  readonly anonymousMib: number;
  /** Pages of files, such as the store's map: the system takes them back when it needs room. */
  readonly fileMib: number;
  readonly handles: number;
  readonly threads: number;
  /** Cores busy for the process. */
  readonly cores: number;
  readonly dataMib: number;
  readonly streams: number;
  readonly writeP50Ms: number;
  readonly writeP99Ms: number;
  readonly queryP99Ms: number;
  readonly detectionP50Ms: number;
  readonly detectionP99Ms: number;
  readonly detections: number;
}

/** Reads one process. */
export class ProcessSampler {
  readonly #pid: number;
  readonly #dataDir: string;
  #cpuSeconds: number;
  #atMs = performance.now();
  readonly #startMs = performance.now();
  #buckets: readonly number[] = [];
  #detections = 0;

  constructor(pid: number, dataDir: string) {
    this.#pid = pid;
    this.#dataDir = dataDir;
    this.#cpuSeconds = cpuSeconds(pid);
  }

  /** Everything of now; `page` is /metrics, the times are those of the answers since the last sample. */
  sample(page: string, times: { readonly writes: number[]; readonly queries: number[] }): SoakSample {
    const status = readFileSync(`/proc/${this.#pid}/status`, "utf8");
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN) * 1024;
    const nowMs = performance.now();
    const cpu = cpuSeconds(this.#pid);
    const cores = (cpu - this.#cpuSeconds) / ((nowMs - this.#atMs) / 1000);
    this.#cpuSeconds = cpu;
    this.#atMs = nowMs;
    const families = parseExposition(page);
    const detection = this.#detection(families.get("svc_detection_latency_seconds"));
    return {
      seconds: (nowMs - this.#startMs) / 1000,
      residentMib: kib("VmRSS") / MIB,
      anonymousMib: (kib("RssAnon") + kib("RssShmem")) / MIB,
      fileMib: kib("RssFile") / MIB,
      handles: readdirSync(`/proc/${this.#pid}/fd`).length,
      threads: Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN),
      cores,
      dataMib: folderBytes(this.#dataDir) / MIB,
      streams: sumOf(families.get("vedette_streams")),
      writeP50Ms: quantile(times.writes, 0.5),
      writeP99Ms: quantile(times.writes, 0.99),
      queryP99Ms: quantile(times.queries, 0.99),
      ...detection,
    };
  }

  /** Quantiles of the detections since the last sample: the upper bound of the bucket that holds them. */
  #detection(family: ExposedFamily | undefined): Pick<SoakSample, "detectionP50Ms" | "detectionP99Ms" | "detections"> {
    const samples = (family?.samples ?? []).filter(({ name }) => name.endsWith("_bucket"));
    const counts = samples.map(({ value }) => value);
    const fresh = counts.map((count, bucket) => count - (this.#buckets[bucket] ?? 0));
    this.#buckets = counts;
    const total = fresh.at(-1) ?? 0;
    this.#detections += total;
    const bound = (share: number) => {
      const found = samples[fresh.findIndex((count) => count >= share * total)];
      const le = found?.labels.le;
      return total === 0 || le === undefined ? Number.NaN : (le === "+Inf" ? 10 : Number(le)) * 1000;
    };
    return { detectionP50Ms: bound(0.5), detectionP99Ms: bound(0.99), detections: this.#detections };
  }
}

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Sum over the samples of a counter or gauge whose labels hold all of `labels`; 0 when there is none. */
export function sumOf(family: ExposedFamily | undefined, labels: Readonly<Record<string, string>> = {}): number {
  const matching = (family?.samples ?? []).filter((sample) =>
    Object.entries(labels).every(([name, value]) => sample.labels[name] === value),
  );
  return matching.reduce((sum, { value }) => sum + value, 0);
}

/** Allocated bytes of a folder, as du counts them; files that go meanwhile are passed over. */
function folderBytes(folder: string): number {
  if (!existsSync(folder)) return 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return bytes;
}

/** A quantile of values; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
