// Who answers each endpoint of the coordinator.
import type { CoordinatorEndpoint } from "../../../api/endpoints.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./access/api-keys.ts";
import { permissions } from "./access/permissions.ts";
import { createUser, deleteUser, listUsers, patchUser, putUser } from "./access/users.ts";
import { acknowledgeAlert, assignAlert, listAlerts, oneAlert } from "./alerts/alerts.ts";
import { listAnomalies, oneAnomaly } from "./alerts/anomalies.ts";
import { changeAnomaly, declareAnomaly } from "./alerts/anomaly-changes.ts";
import { readLedger } from "./alerts/ledger.ts";
import { listAudit } from "./audit.ts";
import { runBacktest } from "./backtest/backtest.ts";
import { callGraph } from "./call-graph.ts";
import { coverage } from "./coverage.ts";
import { acknowledgeDataFaults, listDataFaults } from "./data-faults.ts";
import { correctDeadLetter, deleteDeadLetter, listDeadLetters, oneDeadLetter } from "./dlq/dead-letters.ts";
import { replayDeadLetters, replayJob } from "./dlq/dlq-replay.ts";
import { dlqStats } from "./dlq/dlq-stats.ts";
import { createInhibition, deleteInhibition, listInhibitions, oneInhibition } from "./inhibitions.ts";
import { importCatalog } from "./labels/catalog-import.ts";
import { deleteLabel, listLabels, setLabel } from "./labels/service-labels.ts";
import { pillarScores } from "./pillars/pillar-scores.ts";
import { listServiceMap, setServiceMap } from "./pillars/service-map.ts";
import type { QueryHandler } from "./query-context.ts";
import { listRecords } from "./records.ts";
import { saturationFires } from "./saturation-fires.ts";
import { declareLimit, deleteLimit, listLimits } from "./saturation-limits.ts";
import { listSeries } from "./series.ts";
import { seriesData } from "./series-data.ts";
import { createSilence, deleteSilence, listSilences, oneSilence } from "./silences.ts";
import { status } from "./status.ts";
import { billingUsage } from "./tenants/billing.ts";
import { changeTenant, createTenant, listTenants } from "./tenants/tenants.ts";
import { deleteWatchdogSettings, listWatchdogSettings, setWatchdogSettings } from "./watchdog-settings.ts";

/** By the endpoint's name. */
export const HANDLERS: { readonly [N in CoordinatorEndpoint]: QueryHandler<N> } = {
  status,
  dataFaults: listDataFaults,
  acknowledgeDataFaults,
  permissions,
  createKey,
  keys: listKeys,
  revokeKey,
  rotateKey,
  rotateKeyOtherSpelling: rotateKey,
  users: listUsers,
  createUser,
  putUser,
  patchUser,
  deleteUser,
  dlqStats,
  anomalies: listAnomalies,
  anomaly: oneAnomaly,
  changeAnomaly,
  declareAnomaly,
  alerts: listAlerts,
  alert: oneAlert,
  acknowledgeAlert,
  assignAlert,
  coverage,
  series: listSeries,
  seriesData,
  records: listRecords,
  deadLetters: listDeadLetters,
  deadLetter: oneDeadLetter,
  correctDeadLetter,
  deleteDeadLetter,
  replayDeadLetters,
  replayJob,
  callGraph,
  createTenant,
  tenants: listTenants,
  changeTenant,
  billingUsage,
  setLabel,
  labels: listLabels,
  deleteLabel,
  importCatalog,
  declareLimit,
  limits: listLimits,
  deleteLimit,
  saturationFires,
  alertLedger: readLedger,
  createSilence,
  silences: listSilences,
  silence: oneSilence,
  deleteSilence,
  createInhibition,
  inhibitions: listInhibitions,
  inhibition: oneInhibition,
  deleteInhibition,
  watchdogSettings: listWatchdogSettings,
  setWatchdogSettings,
  deleteWatchdogSettings,
  backtest: runBacktest,
  audit: listAudit,
  setServiceMap,
  serviceMap: listServiceMap,
  pillarScores,
};

const DLQ = ["dlqStats", "deadLetters", "deadLetter", "correctDeadLetter", "deleteDeadLetter", "replayDeadLetters", "replayJob"] as const;
/** Answers that show what is stored: first what the engines have sent is committed, so that a sender finds what it was answered for. */
export const AFTER_COMMIT: ReadonlySet<CoordinatorEndpoint> = new Set<CoordinatorEndpoint>([
  "anomalies",
  "anomaly",
  "alerts",
  "alert",
  "records",
  "callGraph",
  "labels",
  ...DLQ,
]);
