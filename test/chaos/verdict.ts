// The bars of a run of chaos, and whether it holds them.
import { quantile } from "../soak/process-sampler.ts";
import type { QuietAnswer } from "./quiet-tenant.ts";

/** Milliseconds that the quiet tenant's p99 may be above the same minutes without. */
const P99_MORE_MS_MAX = 25;
const SHOWN = 10;

/** What became of the quiet tenant's requests outside planned outages. */
export class QuietRecord {
  #times: number[] = [];
  /** Statuses other than 2xx, by how often. */
  readonly refused = new Map<number, number>();

  add({ status, ms }: QuietAnswer): void {
    this.#times.push(ms);
    if (status < 200 || status >= 300) this.refused.set(status, (this.refused.get(status) ?? 0) + 1);
  }

  get count(): number {
    return this.#times.length;
  }

  get p50Ms(): number {
    return quantile(this.#times, 0.5);
  }

  get p99Ms(): number {
    return quantile(this.#times, 0.99);
  }

  get text(): string {
    const refused = [...this.refused].map(([status, count]) => `${count} x ${status === 0 ? "no answer" : status}`).join(", ");
    return `p50 ${this.p50Ms.toFixed(1)}, p99 ${this.p99Ms.toFixed(1)} ms of ${this.count}${refused === "" ? "" : `, ${refused}`}`;
  }
}

/** All that a run has seen. */
export interface ChaosRun {
  /** Ends that nobody planned and other faults of the process. */
  readonly faults: readonly string[];
  /** Lines of its log that tell of a fault, and answers that do. */
  readonly throws: readonly string[];
  readonly acknowledged: { readonly samples: number; readonly logs: number };
  readonly lostCount: number;
  readonly lost: readonly string[];
  readonly calm: QuietRecord;
  readonly storm: QuietRecord;
}

/** One bar. */
export interface Claim {
  readonly what: string;
  readonly holds: boolean;
  /** What speaks against it. */
  readonly found: readonly string[];
}

/** Judges a run. */
export function judgeChaos({ faults, throws, acknowledged, lostCount, lost, calm, storm }: ChaosRun): readonly Claim[] {
  const moreMs = storm.p99Ms - calm.p99Ms;
  const refused = [...calm.refused, ...storm.refused].map(([status, count]) => `${count} x status ${status}`);
  return [
    { what: "no end but those that were planned", holds: faults.length === 0, found: faults.slice(0, SHOWN) },
    {
      what: `nothing acknowledged is lost: ${acknowledged.samples} samples and ${acknowledged.logs} logs read back`,
      holds: lostCount === 0 && acknowledged.samples > 0 && acknowledged.logs > 0,
      found: lostCount === 0 ? [] : [`${lostCount} lost`, ...lost],
    },
    {
      what: `the quiet tenant waits ${moreMs.toFixed(1)} ms longer than in the minutes without, at most ${P99_MORE_MS_MAX}`,
      holds: moreMs <= P99_MORE_MS_MAX,
      found: [`without: ${calm.text}`, `with: ${storm.text}`],
    },
    { what: "the quiet tenant is refused nothing outside planned outages", holds: refused.length === 0, found: refused },
    { what: "no throw without a guard, no answer of 500", holds: throws.length === 0, found: throws.slice(0, SHOWN) },
  ];
}
