// Retention of anomalies and of episodes.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import type { StateWith } from "../state/stored-state.ts";
import { ID_BYTES, TABLE_START, tenantTimeKey } from "../state/tables.ts";
import type { AnomalyBooks } from "./anomalies-context.ts";
import { episodeTimeKey } from "./verdict-draft.ts";

interface Sources {
  readonly state: StateWith<AnomalyBooks>;
  readonly counters: CoordinatorCounters;
}

export function* expireAnomalies(sources: Sources, terms: RetentionTerms): Generator<RetentionStep> {
  yield* anomalies(sources, terms, terms.retainedFromMs);
  yield* episodes(sources, terms, terms.retainedFromMs);
}

function* anomalies(sources: Sources, terms: RetentionTerms, beforeMs: number): Generator<RetentionStep> {
  const { anomalies, control } = sources.state;
  for (const tenant of [...anomalies.tenants]) {
    for (;;) {
      const entries = anomalies.index(tenant).oldest(terms.rowsPerStep, beforeMs);
      if (entries.length === 0) break;
      const operations = entries.map(({ detectedAtMs, id }) => ({
        table: "anomalies",
        key: tenantTimeKey(tenant, detectedAtMs, id),
        value: undefined,
      }));
      const apply = () => {
        for (const entry of entries) anomalies.remove(tenant, entry);
        sources.counters.set("anomaliesOpen", anomalies.openCount);
        sources.counters.add("anomaliesExpired", entries.length);
      };
      yield { store: control, operations, apply };
    }
  }
}

/** Forgets episodes by age, and the oldest beyond the maximum whatever their age. */
function* episodes(sources: Sources, terms: RetentionTerms, beforeMs: number): Generator<RetentionStep> {
  const { anomalies, control } = sources.state;
  const old = episodeTimeKey(beforeMs, new Uint8Array(0));
  for (;;) {
    const excess = anomalies.episodeCount - terms.episodesMax;
    const to = excess > 0 ? episodeTimeKey(Number.POSITIVE_INFINITY, new Uint8Array(0)) : old;
    const limit = excess > 0 ? Math.min(excess, terms.rowsPerStep) : terms.rowsPerStep;
    const entries = control.range("episode_times", { from: TABLE_START, to, limit });
    if (entries.length === 0) return;
    yield {
      store: control,
      operations: entries.flatMap(({ key }) => forgetEpisode(key)),
      apply: () => {
        anomalies.addEpisodes(-entries.length);
        sources.counters.add("episodesExpired", entries.length);
      },
    };
  }
}

function forgetEpisode(key: Uint8Array): StoreOperation[] {
  const reader = new KeyReader(key);
  reader.time();
  return [
    { table: "episode_times", key, value: undefined },
    { table: "episodes", key: reader.fixed(ID_BYTES), value: undefined },
  ];
}
