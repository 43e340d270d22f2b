/**
 * The tables of the two environments and their keys (domain/codec/key.ts).
 *
 *   control  anomalies       tenant, detected time, id          ▶ anomaly-row.ts: Anomaly
 *            episodes        episode id                         ▶ Episode, but of those that opened an anomaly, which stand in its row
 *            standing_episodes episode id                       ▶ OpenEpisode: open ones of detectors that judge in cycles
 *            episode_times   committed time, episode id         ▶ empty; the order in which episodes are forgotten
 *            dead_letters    tenant, received time, id          ▶ DeadLetterEnvelope
 *            dead_letter_ends tenant, received time, id         ▶ u8: how a letter that is gone ended, END_REPLAYED or END_DELETED
 *            replay_jobs     tenant, created time, id           ▶ ReplayJob
 *            counters        kind, tenant                       ▶ DeadLetterCounts
 *            audit           tenant, time, id                   ▶ AuditEntry
 *            api_keys        key id                             ▶ ApiKey
 *            users           tenant, subject                    ▶ User
 *            tenants         tenant                             ▶ Tenant
 *            audit_counts    tenant                             ▶ rows of the audit log
 *            service_labels  tenant, service, key, u16 source   ▶ label-book.ts (control): a label of one source
 *            saturation_limits tenant, metric, u16 0 or 1, service ▶ SaturationLimit: of the tenant, or of a service
 *            saturation_fires tenant, fire id                   ▶ SaturationFire: a finding, open or ended
 *            service_map     tenant, service                    ▶ ServiceEntry without its service
 *            pillar_history  tenant, pillar, value              ▶ MagnitudeHistory (domain/pillars)
 *            alerts          tenant, created time, id           ▶ AlertRow: an alert with its state
 *            silences        tenant, silence id                 ▶ Silence or maintenance window
 *            inhibitions     tenant, rule id                    ▶ inhibition rule
 *            watchdog_settings tenant, service, metric          ▶ overrides of the Watchdog's settings; empty service or metric: of all
 *            calendars       tenant                             ▶ StoredCalendar: days that are known to be other than usual
 *            feedback        tenant, service                    ▶ what people said of a service's anomalies, and what follows
 *            routing_rules   tenant, rule id                    ▶ RoutingRule, or what was edited of the catch-all
 *            deliveries      tenant, alert id, destination hash ▶ DeliveryRow: what a channel has been told of an alert
 *            outbox          the same                           ▶ its destination, while there is a message to be sent
 *            rca_reports     tenant, created time, report id    ▶ RcaReport: root causes of an incident
 *            incident_memory tenant, incident id                ▶ RememberedIncident: what an incident was like, and what helped
 *            webhooks        tenant, name                       ▶ Webhook, its secrets included
 *            webhook_deliveries tenant, webhook id, time, id    ▶ WebhookDeliveryRow: an event on its way to a webhook, with its attempts
 *            webhook_outbox  the same                           ▶ empty, while it is not done with
 *            runbooks        tenant, runbook id                 ▶ Runbook, its secrets included
 *            runbook_executions tenant, execution id            ▶ Execution: a run, with the runbook as it was
 *            runbook_open    the same                           ▶ empty, while it is not over
 *            annotations     tenant, anomaly id, execution id, u16 step ▶ Annotation: what a run noted at an anomaly
 *            page_budgets    tenant, team                       ▶ PageBudget: how many pages a team may have in a week
 *            drills          tenant                             ▶ Drill: the last fire drill
 *            training_jobs   tenant, created time, id           ▶ TrainingJobRow: a training that was asked for
 *            models          tenant, model id                   ▶ ModelRow: a model that was trained on request
 *            model_parts     tenant, model id, u16 part         ▶ its bytes, the state of its detector, what its training saw (model-row.ts)
 *            secrets         name                               ▶ raw bytes
 *   series   records         tenant, time, id                   ▶ record-row.ts
 *            slo_records     tenant, time, id                   ▶ SloRecord: what the last three days' SLO records say
 *            span_blocks     tenant, second, block id           ▶ span-block.ts (domain/trace): spans of a service that ended in that second
 *            blocks          partition, block                   ▶ chunk block
 *            block_spans     partition, block                   ▶ times and size of the block, so that 64 KiB need not be read to skip it
 *            rollups         partition, roll-up                 ▶ roll-up block
 *            rollup_spans    partition, roll-up                 ▶ hours and streams of the roll-up, so that it need not be read to skip it
 *            rollup_marks    partition                          ▶ how far the blocks are rolled up, and which roll-ups count
 *            checkpoints     partition                          ▶ header and last part of the state
 *            checkpoint_parts partition, generation, part       ▶ the parts before it
 *            cold_streams    partition, first serial            ▶ cold-batch.ts: streams that left memory, up to the next key's serial
 *            cold_services   tenant, service, first serial      ▶ u32: how many of a batch's streams are the service's
 *            metric_metadata tenant, metric name                ▶ MetricMetadataEnvelope
 *            lane_marks      epoch, lane                        ▶ LaneMark
 *            call_sums       partition, since                   ▶ call-rows.ts: calls between services since a checkpoint of the partition
 *            call_minutes    tenant, minute                     ▶ call-rows.ts: calls between services in a minute
 *            ledger          tenant, time, id                   ▶ decision-row.ts (alerts/rows): PageDecision, why something did or did not page
 *            ledger_counts   tenant                             ▶ rows of the ledger
 *            detector_states partition, detector, page          ▶ states of the Watchdog's detectors, as their engine packs them
 *            usage           month, tenant                      ▶ usage-rows.ts: accepted events
 *
 * Lane marks stand beside the records and the usage that they speak of, so that one transaction holds both.
 */
import { compareKeys, KeyBuilder, KeyReader } from "../../../domain/codec/key.ts";

/** Tables of the environment `control`. */
export const CONTROL_TABLES = [
  "anomalies",
  "episodes",
  "episode_times",
  "standing_episodes",
  "dead_letters",
  "dead_letter_ends",
  "replay_jobs",
  "counters",
  "audit_counts",
  "service_labels",
  "saturation_limits",
  "audit",
  "api_keys",
  "users",
  "tenants",
  "saturation_fires",
  "service_map",
  "pillar_history",
  "alerts",
  "silences",
  "inhibitions",
  "watchdog_settings",
  "calendars",
  "feedback",
  "routing_rules",
  "deliveries",
  "outbox",
  "rca_reports",
  "incident_memory",
  "webhooks",
  "webhook_deliveries",
  "webhook_outbox",
  "runbooks",
  "runbook_executions",
  "runbook_open",
  "annotations",
  "page_budgets",
  "drills",
  "training_jobs",
  "models",
  "model_parts",
  "secrets",
] as const;
/** Tables of the environment `series`. */
export const SERIES_TABLES = [
  "records",
  "slo_records",
  "span_blocks",
  "blocks",
  "block_spans",
  "rollups",
  "rollup_spans",
  "rollup_marks",
  "checkpoints",
  "checkpoint_parts",
  "cold_streams",
  "cold_services",
  "metric_metadata",
  "lane_marks",
  "call_sums",
  "call_minutes",
  "ledger",
  "ledger_counts",
  "detector_states",
  "usage",
] as const;

/** Bytes of an id of 32 hex digits. */
export const ID_BYTES = 16;
const TIME_BYTES = 8;
/** Above every key of a table: no key starts with eight bytes of 0xff. */
export const TABLE_END = new Uint8Array(8).fill(0xff);
/** Below every key of a table. */
export const TABLE_START = new Uint8Array(0);

const HEX_ID = /^[0-9a-f]{32}$/;

/** Used again for every key. */
const rowKey = new KeyBuilder();
const idScratch = new Uint8Array(ID_BYTES);

function noId(id: string): RangeError {
  return new RangeError(`an id has 32 hex digits, got ${JSON.stringify(id.slice(0, 40))}`);
}

/** The bytes of an id. */
export function idBytes(id: string): Uint8Array {
  if (!HEX_ID.test(id)) throw noId(id);
  return new Uint8Array(Buffer.from(id, "hex"));
}

/** The id of bytes. */
export function idText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Key of anomalies, records and dead letters. */
export function tenantTimeKey(tenant: string, timeMs: number, id: string): Uint8Array {
  if (!HEX_ID.test(id)) throw noId(id);
  for (let i = 0; i < ID_BYTES; i++) idScratch[i] = (hexDigit(id, 2 * i) << 4) | hexDigit(id, 2 * i + 1);
  return rowKey.clear().fixed(tenantPrefix(tenant)).time(timeMs).fixed(idScratch).finish();
}

/** Order of a commit's rows: LMDB fills its pages with rows that come in the order of their keys, and leaves them half empty otherwise. */
export function byKey(a: { readonly key: Uint8Array }, b: { readonly key: Uint8Array }): number {
  return compareKeys(a.key, b.key);
}

/** What such a key says. */
export interface RowKey {
  readonly tenant: string;
  readonly timeMs: number;
  readonly id: string;
}

/** Reads a key of anomalies, alerts and the ledger. Throws RangeError on bytes that are none. */
export function tenantTimeOf(key: Uint8Array): RowKey {
  const tenantBytes = key.length - TIME_BYTES - ID_BYTES;
  const tenant = isLastTenant(key, tenantBytes) ? lastTenant : new KeyReader(key).text();
  tenantPrefix(tenant);
  return {
    tenant,
    timeMs: new KeyReader(key, tenantBytes).time(),
    id: idText(key.subarray(key.length - ID_BYTES)),
  };
}

/** Whether the key begins with the tenant that was asked for last, and nothing more. */
function isLastTenant(key: Uint8Array, tenantBytes: number): boolean {
  if (tenantBytes !== lastPrefix.length) return false;
  for (let i = 0; i < tenantBytes; i++) if (key[i] !== lastPrefix[i]) return false;
  return true;
}

/** Value of a character that is known to be a lower-case hex digit. */
function hexDigit(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : code - 0x57;
}

let lastTenant = "";
let lastPrefix = new KeyBuilder().text(lastTenant).finish();

/** What the keys of a tenant begin with; that of the last is kept, as rows come in runs of a tenant's. */
function tenantPrefix(tenant: string): Uint8Array {
  if (tenant !== lastTenant) {
    lastPrefix = new KeyBuilder().text(tenant).finish();
    lastTenant = tenant;
  }
  return lastPrefix;
}

/** Bound of a tenant's keys: those of earlier times lie below it. */
export function tenantTimeBound(tenant: string, timeMs: number): Uint8Array {
  return rowKey.clear().text(tenant).time(timeMs).finish();
}

/** Key of a block and its span, or of a roll-up and its own. */
export function blockKey(partition: number, block: number): Uint8Array {
  return rowKey.clear().u16(partition).u32(block).finish();
}

/** Key of a part of a checkpoint; also the bound of the parts of generations from it on. */
export function checkpointPartKey(partition: number, generation: number, part: number): Uint8Array {
  return rowKey.clear().u16(partition).u32(generation).u32(part).finish();
}

/** Key of a batch of streams that left memory; also the bound of those with serials from it on. */
export function coldKey(partition: number, serial: number): Uint8Array {
  return rowKey.clear().u16(partition).u32(serial).finish();
}

/** Key of a page of a detector's states. */
export function detectorStatesKey(partition: number, detector: number, page: number): Uint8Array {
  return rowKey.clear().u16(partition).u16(detector).u32(page).finish();
}

/** Key of a checkpoint; also the bound of the blocks of partitions from it on. */
export function partitionKey(partition: number): Uint8Array {
  return rowKey.clear().u16(partition).finish();
}
