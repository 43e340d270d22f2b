// The quiet simulation: services through the shard kernel, the detector of long baselines, their joint models and the pipeline to a page, as shipped, on a virtual
// clock.

import { hash128 } from "../../../src/core/hashing/hash128.ts";
import { EVENT_CLOSE, EVENT_OPEN, EVENT_UPDATE } from "../../../src/core/layout/kernel-event.ts";
import { FLAG_COUNTER, FLAG_PERCENT } from "../../../src/core/layout/stream-record.ts";
import type { StreamName } from "../../../src/core/protocol/coordinator-frame.ts";
import type { PageDecision } from "../../../src/domain/alerting/paging/page-decision.ts";
import { NO_INHIBITIONS, NO_SILENCES, type PagingSources } from "../../../src/domain/alerting/paging/paging-sources.ts";
import { ServiceConfirmations } from "../../../src/domain/alerting/paging/service-confirmations.ts";
import { decodeEpisode, encodeEpisode } from "../../../src/domain/anomaly/episode-codec.ts";
import { episodeFrame } from "../../../src/domain/anomaly/episode-frame.ts";
import { IncidentRun } from "../../../src/domain/backtest/incident-run.ts";
import { PairFindings } from "../../../src/domain/backtest/tracks/pair-findings.ts";
import { SURROUNDED_BY_NOTHING } from "../../../src/domain/detection/pair/pair-surroundings.ts";
import { environmentSettings } from "../../../src/domain/detection/watchdog-settings.ts";
import { identityText } from "../../../src/domain/series/stream-identity.ts";
import { type Row, ShardRig } from "../../support/shard-rig.ts";
import { INCIDENT_KINDS, type Incident, plantIncident } from "./incident-plan.ts";
import { ServiceLayer } from "./service-layer.ts";
import { METRICS, ServiceModel } from "./service-model.ts";

/** Around each value: no deployment, and the service's metrics. */
const AROUND = { ...SURROUNDED_BY_NOTHING, streams: METRICS.length };

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Monday, the simulation's first minute. */
const START_MS = Date.UTC(2026, 0, 5);
const SERVICES_AT_ONCE = 250;
const FOUND_MINUTES = 5;
const SETTINGS = environmentSettings({});

export interface QuietOptions {
  readonly seed: number;
  /** Services without an incident, and with one. */
  readonly services: number;
  readonly incidents: number;
  readonly warmDays: number;
  progress?(services: number, of: number): void;
}

export interface QuietResult {
  readonly serviceDays: number;
  /** Pages in services without an incident. */
  readonly pages: number;
  readonly pagesBy: Readonly<Record<string, number>>;
  /** Findings that were no page, by the gate that held them back. */
  readonly heldBy: Readonly<Record<string, number>>;
  /** By kind: planted, and found within five minutes of the onset. */
  readonly incidents: Readonly<Record<string, { planted: number; found: number }>>;
}

/** What the run itself counts up. */
interface Tally {
  pages: number;
  readonly pagesBy: Record<string, number>;
  readonly heldBy: Record<string, number>;
  readonly incidents: Record<string, { planted: number; found: number }>;
}

/** One day of each service is judged, after `warmDays`. */
export function quietRun({ seed, services, incidents, warmDays, progress }: QuietOptions): QuietResult {
  const tally: Tally = { pages: 0, pagesBy: {}, heldBy: {}, incidents: {} };
  const all = services + incidents;
  const first = warmDays * DAY_MINUTES;
  for (let from = 0; from < all; from += SERVICES_AT_ONCE) {
    const batch = Array.from({ length: Math.min(SERVICES_AT_ONCE, all - from) }, (_, i) => {
      const number = from + i;
      const kind = INCIDENT_KINDS[number % INCIDENT_KINDS.length] as (typeof INCIDENT_KINDS)[number];
      const own = (seed * 1_000_003 + number * 7919) >>> 0;
      return { number, seed: own, incident: number < services ? undefined : plantIncident(own, kind, first, first + DAY_MINUTES) };
    });
    runBatch(batch, first, tally);
    progress?.(Math.min(all, from + SERVICES_AT_ONCE), all);
  }
  return { ...tally, serviceDays: services };
}

interface Planned {
  readonly number: number;
  readonly seed: number;
  readonly incident: Incident | undefined;
}

function runBatch(batch: readonly Planned[], first: number, tally: Tally): void {
  const rig = new ShardRig({ window: 120 });
  const models = batch.map(({ seed, incident }) => new ServiceModel(seed, incident));
  const names: StreamName[] = [];
  const flags = [FLAG_COUNTER, FLAG_PERCENT, 0, FLAG_PERCENT];
  for (const { number } of batch)
    for (const [m, metricName] of METRICS.entries()) {
      rig.stream(flags[m]);
      names.push({ tenant: "quiet", environment: "", serviceId: `service-${number}`, metricName, attributes: {} });
    }
  const tracks = names.map((name) => new PairFindings(name, SETTINGS.direction));
  const layers = batch.map(({ seed }, i) => new ServiceLayer(names[i * METRICS.length] as StreamName, METRICS, seed));
  const foundAt = new Map<string, number>();
  let minute = 0;
  const isJudged = () => minute >= first;
  const sources = sourcesOf();
  const run = new IncidentRun(sources, (decision) => isJudged() && note(decision));
  const byService = new Map(batch.map((planned) => [`service-${planned.number}`, planned]));
  const note = (decision: PageDecision): void => {
    const incident = (byService.get(decision.serviceId) as Planned).incident;
    if (decision.outcome !== "paged") {
      if (incident === undefined && decision.suppressedBy !== null) count(tally.heldBy, decision.suppressedBy);
      return;
    }
    if (incident === undefined) {
      tally.pages++;
      count(tally.pagesBy, `${decision.detector} ${decision.metricName}`);
    } else if (minute >= incident.start && !foundAt.has(decision.serviceId)) foundAt.set(decision.serviceId, minute);
  };
  const rows: Row[] = [];
  for (; minute < first + DAY_MINUTES; minute++) {
    const timeMs = START_MS + minute * MINUTE_MS;
    rows.length = 0;
    for (const [i, model] of models.entries()) {
      model.next(minute);
      for (let m = 0; m < METRICS.length; m++) rows.push({ ref: i * METRICS.length + m, timeMs, value: model.values[m] as number });
    }
    for (const row of rows) {
      for (const event of rig.applyRows([row])) {
        if (event.kind !== EVENT_OPEN && event.kind !== EVENT_UPDATE && event.kind !== EVENT_CLOSE) continue;
        const frame = episodeFrame(event, {
          identity: Buffer.from(identityText(names[event.slot] as StreamName)),
          hash: Uint8Array.of(event.slot & 255, event.slot >> 8),
          streamFlags: rig.shard.records.flags(event.slot),
          threshold: SETTINGS.zThreshold,
          direction: () => SETTINGS.direction,
          samplesMin: 12,
          baseline: () => rig.shard.baseline(event.slot, event.timeMs),
          hashText: (text) => Buffer.from(hash128(text), "hex"),
        });
        if (frame !== undefined) run.take(decodeEpisode(encodeEpisode(frame)), timeMs);
      }
      if (rig.shard.records.count(row.ref) === 0) continue;
      const pair = tracks[row.ref] as PairFindings;
      pair.observe(timeMs, rig.shard.records.lastValue(row.ref), AROUND);
      for (const found of pair.reported(timeMs)) {
        if ("transition" in found) run.take(found, timeMs);
        else sources.confirmations.take(found, timeMs);
      }
    }
    judgeServices(layers, rig, { timeMs, stage: minute < first ? "learn" : minute === first ? "train" : "judge" }, run);
    run.cycle(timeMs);
  }
  tallyIncidents(batch, foundAt, tally);
}

function tallyIncidents(batch: readonly Planned[], foundAt: ReadonlyMap<string, number>, tally: Tally): void {
  for (const { number, incident } of batch) {
    if (incident === undefined) continue;
    tally.incidents[incident.kind] ??= { planted: 0, found: 0 };
    const of = tally.incidents[incident.kind] as { planted: number; found: number };
    of.planted++;
    const at = foundAt.get(`service-${number}`);
    if (at !== undefined && at - incident.onset < FOUND_MINUTES) of.found++;
  }
}

/** A minute of the joint models; where they are trained they judge it too. */
function judgeServices(
  layers: readonly ServiceLayer[],
  rig: ShardRig,
  { timeMs, stage }: { readonly timeMs: number; readonly stage: "learn" | "train" | "judge" },
  run: IncidentRun,
): void {
  const vector = new Float64Array(METRICS.length);
  for (const [i, layer] of layers.entries()) {
    for (let m = 0; m < METRICS.length; m++) vector[m] = newestOf(rig, i * METRICS.length + m, timeMs);
    if (stage === "learn") {
      layer.learn(timeMs, vector);
      continue;
    }
    if (stage === "train") layer.train(timeMs);
    const frame = layer.judge(timeMs, vector);
    if (frame !== undefined) run.take(frame, timeMs);
  }
}

/** What a stream was judged by in this minute; NaN where it had nothing to judge, as at a counter's first value. */
function newestOf(rig: ShardRig, slot: number, timeMs: number): number {
  const { records } = rig.shard;
  return records.count(slot) > 0 && records.lastTimeMs(slot) === timeMs ? records.lastValue(slot) : Number.NaN;
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function sourcesOf(): PagingSources {
  return {
    silences: NO_SILENCES,
    inhibitions: NO_INHIBITIONS,
    confirmations: new ServiceConfirmations(),
    startedAtMs: 0,
    warmUpMinutes: 8,
    groupWaitMs: 0,
    repeatMs: 0,
    settingsOf: () => SETTINGS,
    firstSeenMs: () => undefined,
    feedbackFactor: () => 1,
    requestsInCycle: () => undefined,
  };
}
