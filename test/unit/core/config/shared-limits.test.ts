// Every maximum is either one whose places tenants share, and then kept by a ledger, or says here why no tenant can keep others out by it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COORDINATOR_LIMITS, engineSharedLimits, FRONT_LIMITS } from "../../../../src/core/config/shared-limits.ts";
import { COORDINATOR_SHARED_LIMITS, ENGINE_SHARED_LIMITS, FRONT_SHARED_LIMITS } from "../../../../src/core/layout/counters.ts";

const CONFIG = "src/core/config";
/** Amounts and not places: times, bytes of one thing, shares of a thread, bounds of one tenant, service, body, step ... */
const AMOUNT = /(_MS|_CHARACTERS|_SHARE|_MB|_DEPTH|_Z|_AGE_MS|_LENGTH|_CELLS|_VISITS)_MAX$|_PER_[A-Z_]+_MAX$/;
/** What belongs to one request, answer, service, stream or file. */
const OF_ONE =
  /^(ATTRIBUTES|BACKTEST|BATCH|BODY|CALL_EDGES|CALL_MINUTES|CASCADE|CATALOG|COVERAGE|CUSTOM|DECOMPRESSED|FAMILY|IDEMPOTENCY|IDENTITY|IMPORT|INFLATED|INHIBITION_EQUAL|JSON|LABEL_MATCHERS|LEDGER_(ANSWER|HISTORY|SCANNED|SERVICE|STREAMS)|DEAD_LETTER_(PLACES|GROUPS)|DEAD_LETTERS_HELD|LOG_BODY|NAME|PAGE|PATTERN_(BYTES|PARTS|TABLE)|PILLAR_VALUE_BYTES|POINTS_KEPT|QUERY_(BODY|PARAMETERS)|RECORDS_SCANNED|RECORD_S|REPLAY_(HISTORY|IDS|JOBS)|SATURATION_(FIRES|NAMES|ROLLUP)|SECRET|SERIES_(DATA|POINTS)|SERVICE_(MAP_(BODY|ENTRIES_MAX|TENANT)|METRICS|STREAMS|TRAINING|VECTOR)|SMALL_BODY|SPANS_READ|SPAN_BLOCKS|TRANSFORM_(INPUT|OUTPUT|MEMORY|KILLS)|VALUE_BYTES|WATCHDOG_NAMES|ALERT_|AUDIT_VIEW|EVENT_STREAM_LAG|ZSTD)/;
/** Pieces of work that a thread takes at once, and what waits between threads: nobody holds them. */
const OF_WORK =
  /^(BODIES_WAITING|CHECKPOINT|DETECTOR_STATE|EVICTIONS|FRAMES_TAKEN|FRAME_ROWS|LEDGER_ROWS_GATHERED|NEW_STREAMS|OVERFLOW|PARKED|PACED|REPLAY_(BODIES|DEAD_LETTERS)|RETURNED|ROLLUP|SERIES_GATHERED|SLOTS|STATE_P|TRANSACTION|WORK|WINDOW_IDS_KEPT)/;
/** The others, each with its reason. */
const NOT_SHARED: Readonly<Record<string, string>> = {
  ALERTS_MAX: "of each tenant",
  TRAINING_WINDOW_DAYS_MAX: "a number, not places",
  REQUESTED_VECTORS_MAX: "of one training, of which one runs",
  DRIFT_VECTORS_MAX: "of one question",
  EVENT_ID_BYTES_MAX: "of one request: the id of the last event that a reader has seen",
  ANOMALIES_MAX: "of each tenant",
  LEDGER_ROWS_MAX: "of each tenant",
  PATTERN_MATCHERS_STORED_MAX: "of each tenant",
  SLOS_OUTSIDE_MAX: "of each tenant",
  BODIES_ASIDE_MAX: "a tenant has half of them at most, and one beyond is decoded at once",
  INFLATING_MAX: "a tenant has half of them at most, and tenants take turns",
  INFLATING_BYTES_MAX: "what is handed over in a moment",
  INFLATIONS_WAITING_MAX: "a tenant has half of them at most",
  INFLATION_BYTES_WAITING_MAX: "a tenant has half of them at most",
  ASIDE_BYTES_MAX: "a tenant has half of them at most",
  MINUTE_CALLS_MAX: "of each tenant and minute",
  AUDIT_ROWS_MAX: "the tenant with most rows gives way",
  DEAD_LETTER_BYTES_MAX: "the tenant with most bytes gives way",
  AUTHENTICATIONS_WAITING_MAX: "whose they are is not known before the check",
  CREDENTIALS_CACHED_MAX: "a memory: what it forgets is checked again",
  KEY_BUCKETS_MAX: "a memory: a key that has not sent for a second needs none, and a tenant has 1,000 keys",
  LABELS_REPORTED_MAX: "a memory: what it forgets is told again",
  INDEXED_SERVICES_KEPT_MAX: "a memory: what it forgets is found by its text",
  PATTERNS_KEPT_MAX: "a memory: what it forgets is compiled again",
  PATTERN_RESULTS_MAX: "a memory: what it forgets is matched again",
  ANOMALIES_RECENT_MAX: "a memory: what it forgets is read from the store",
  ALERTS_RESOLVED_KEPT_MAX: "forgets the longest resolved: one that fires again opens a new alert",
  DEPLOYMENTS_REMEMBERED_MAX: "forgets the oldest",
  EPISODES_MAX: "forgets the oldest",
  DEAD_LETTER_ENDS_MAX: "forgets the oldest",
  RCA_PAIRS_MAX: "forgets the longest ago",
  SIGNAL_SERVICES_MAX: "forgets the longest ago, of two minutes",
  JOIN_SPANS_MAX: "forgets the oldest, which then find their other half less long",
  CORROBORATIONS_MAX: "a ledger of its own for each pass",
  TRAINING_CHUNK_BYTES_MAX: "of one training, of which one runs",
  LOG_SEARCH_BYTES_MAX: "of a damaged log, at the start",
  DAMAGED_BYTES_KEPT_MAX: "of the data folder, not of what tenants do",
  ROUTING_RULES_MAX: "of each tenant",
  ROUTING_PRIORITY_MAX: "a number, not places",
  KNOWN_DAY_NAME_BYTES_MAX: "of one day",
  ROUTING_LABEL_MATCHERS_MAX: "of one rule",
  LANES_MAX: "as many as messages are handed over, which are shared; idle ones are forgotten",
  DESTINATIONS_MAX: "of the settings, at the start",
  JOINED_MESSAGES_MAX: "of one message, which is one tenant's",
  SUMMARIES_WORDED_AT_ONCE_MAX: "beyond it a summary is worded by rule, and no analysis waits",
  SUMMARY_ANSWER_BYTES_MAX: "of one answer",
  ANOMALY_NAMES_SHARED_MAX: "a memory: what it forgets is shared anew",
  COUNT_BUCKETS_MAX: "of one answer",
  SERVICES_LISTED_MAX: "of each tenant",
  SERVICE_LISTS_KEPT_MAX: "a memory: what it forgets is asked of the engines again",
  GRAPH_NODES_MAX: "of one answer",
  DRAWN_BUCKETS_MAX: "of one answer",
  SERIES_ANOMALIES_MAX: "of one answer",
  SERIES_TOGETHER_MAX: "of one answer",
  SANDBOX_PROCESSES_MAX: "a tenant has half of them at most, and one without takes the place of an idle one",
  SANDBOX_WAITING_MAX: "a tenant has a tenth of them at most, and tenants take turns",
  TRANSFORM_PENALTIES_MAX: "a memory: each costs its tenant a second of a process, and what it forgets runs again",
  OUTBOUND_CALLS_MAX: "each belongs to a running query, of which tenants have shares, and ends within its time",
  COMPUTATIONS_WAITING_MAX: "each belongs to a running query, of which tenants have shares, and ends within 10 s; beyond, 503",
  FORECAST_HOURS_MAX: "of one answer",
  PREDICT_MINUTES_MAX: "of one answer",
  DEGRADATION_HOURS_MAX: "of one answer",
  DEGRADATION_TRENDS_MAX: "of one answer",
  VALIDATION_HOURS_MAX: "of one answer",
  CAUSAL_LAG_MAX: "of one computation",
  FORECAST_POINTS_SCORED_MAX: "of one forecast, of which each tenant has its own",
  WEBHOOK_HEADERS_MAX: "of one webhook",
  WEBHOOK_ENVIRONMENTS_MAX: "of one webhook",
  WEBHOOK_ATTEMPTS_MAX: "of one event",
  WEBHOOK_MULTIPLIER_MAX: "of one webhook",
  WEBHOOK_FLIGHT_MAX: "of one webhook",
  CONFIGURATION_ENTRIES_MAX: "of one body",
  CONFIGURATION_BODY_BYTES_MAX: "of one body",
  PAGES_PER_WEEK_MAX: "a number, not places",
  RUNBOOK_STEPS_MAX: "of one runbook",
  RUNBOOK_REQUESTS_MAX: "a tenant has a fifth of them at most",
  RUNBOOK_WAIT_SECONDS_MAX: "of one step",
  RUNBOOK_SILENCE_SECONDS_MAX: "of one step",
  RUNBOOK_TIMEOUT_SECONDS_MAX: "of one step",
  RUNBOOK_ATTEMPTS_MAX: "of one step",
  RUNBOOK_HEADERS_MAX: "of one step",
  RUNBOOK_CHANNELS_MAX: "of one step",
  RUNBOOK_SECRETS_MAX: "of one runbook",
  TRANSFORM_TRIAL_EVENTS_MAX: "of one trial",
  DATA_FAULTS_MAX: "of the data folder, not of what tenants do",
};

function maxima(): string[] {
  const files = readdirSync(CONFIG).filter((file) => file.endsWith("-limits.ts") || file === "limits.ts");
  const text = files.map((file) => readFileSync(join(CONFIG, file), "utf8")).join("\n");
  return [...text.matchAll(/^export const ([A-Z0-9_]+_MAX)\b/gm)].map(([, name]) => name as string);
}

describe("every maximum", () => {
  it("is shared by a ledger, or says why no tenant can keep others out by it", () => {
    const shared = new Set(readFileSync(join(CONFIG, "shared-limits.ts"), "utf8").match(/[A-Z0-9_]+_MAX\b/g));
    const unknown = maxima().filter(
      (name) => !shared.has(name) && !AMOUNT.test(name) && !OF_ONE.test(name) && !OF_WORK.test(name) && NOT_SHARED[name] === undefined,
    );
    expect(unknown, "say in core/config/shared-limits.ts or here whose places they are").toEqual([]);
    expect(Object.keys(NOT_SHARED).filter((name) => !maxima().includes(name))).toEqual([]);
  });

  it("that is shared has a ledger with its places, and somebody who asks it", () => {
    const source = `${readAll("src/actors")}${readFileSync("src/main.ts", "utf8")}`;
    const limits = { ...engineSharedLimits(1, 1_000, 1_000), ...COORDINATOR_LIMITS, ...FRONT_LIMITS };
    for (const limit of [...ENGINE_SHARED_LIMITS, ...COORDINATOR_SHARED_LIMITS, ...FRONT_SHARED_LIMITS]) {
      const places = limits[limit];
      expect(typeof places === "number" ? places : places.most, limit).toBeGreaterThan(0);
      // With its quotes: the name alone may also be a part of a metric's.
      const spelled = [`"${limit}"`, `${limit.replace(/^(span|log)_/, ["`$", "{items}_"].join(""))}\``].some((text) =>
        source.includes(text),
      );
      expect(spelled, `${limit} is asked for`).toBe(true);
    }
  });
});

function readAll(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");
}
