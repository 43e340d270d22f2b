// What the coordinator has told an engine for the pass over bounded series: declared limits, open findings, and the anomalies that may confirm one.
import type { ReportedFinding, SaturationUpdate } from "../../core/protocol/saturation.ts";
import { baseNameOf } from "../distribution/derived-values.ts";
import type { DeclaredLimit } from "./bounded-name.ts";
import { SaturationLimits } from "./saturation-limits.ts";

/** One engine's copy. */
export class KnownSaturation {
  #limits = new SaturationLimits();
  #version = 0;
  readonly #restored = new Map<string, ReportedFinding>();
  #open: ReadonlySet<string> = new Set();
  #confirming = new Map<string, Set<string>>();

  take({ limits, restored, open, corroborations }: SaturationUpdate): void {
    if (limits !== null) {
      this.#limits = new SaturationLimits();
      for (const limit of limits) this.#limits.put(limit);
      this.#version++;
    }
    for (const finding of restored ?? []) this.#restored.set(finding.key, finding);
    this.#open = new Set(open);
    this.#confirming = new Map();
    for (const [service, environment, metricName] of corroborations) {
      const key = scopeKey(service, environment);
      const metrics = this.#confirming.get(key) ?? new Set();
      this.#confirming.set(key, metrics.add(baseNameOf(metricName)));
    }
  }

  /** Another number whenever limits have changed. */
  get limitsVersion(): number {
    return this.#version;
  }

  limitFor(tenant: string, serviceId: string, metricName: string): DeclaredLimit | null {
    const limit = this.#limits.limitFor(tenant, serviceId, metricName);
    return limit === undefined ? null : { value: limit.limitValue, unit: limit.unit };
  }

  /** Whether another detector has an open anomaly of the service: on any metric but the series' own. */
  isCorroborated(service: string, environment: string, metricName: string): boolean {
    const metrics = this.#confirming.get(scopeKey(service, environment));
    return metrics !== undefined && metrics.size > (metrics.has(metricName) ? 1 : 0);
  }

  /** Whether a finding of the series is told. */
  isOpen(key: string): boolean {
    return this.#open.has(key);
  }

  /** A finding that was open at the start and whose series has not been judged since. */
  restored(key: string): ReportedFinding | undefined {
    return this.#restored.get(key);
  }

  release(key: string): void {
    this.#restored.delete(key);
  }
}

function scopeKey(service: string, environment: string): string {
  return `${environment}\0${service}`;
}
