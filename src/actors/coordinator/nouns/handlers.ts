// Who answers each endpoint of the coordinator.
import type { CoordinatorEndpoint } from "../../../api/endpoints.ts";
import type { AccessContext } from "../access/access-context.ts";
import { listAudit } from "../access/audit-handler.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "../access/key-handlers.ts";
import { permissions } from "../access/permission-handler.ts";
import { changeTenant, createTenant, listTenants } from "../access/tenant-handlers.ts";
import { createUser, deleteUser, listUsers, patchUser, putUser } from "../access/user-handlers.ts";
import { acknowledgeAlert, assignAlert, listAlerts, oneAlert } from "../alerts/alert-handlers.ts";
import type { AlertsContext } from "../alerts/alerts-context.ts";
import { takeAlerts } from "../analysis/alert-webhook-handler.ts";
import type { AnalysisContext } from "../analysis/analysis-context.ts";
import { analyze } from "../analysis/analyze-handler.ts";
import { listReports, scorecard, similarReports } from "../analysis/report-handlers.ts";
import { storeResolution } from "../analysis/resolution-handler.ts";
import { blastRadiusOf, correlations } from "../analysis/topology-handlers.ts";
import type { AnomaliesContext } from "../anomalies/anomalies-context.ts";
import { changeAnomaly, declareAnomaly } from "../anomalies/anomaly-change-handlers.ts";
import { listAnomalies, oneAnomaly } from "../anomalies/anomaly-handlers.ts";
import type { BacktestContext } from "../backtest/backtest-context.ts";
import { runBacktest } from "../backtest/backtest-handler.ts";
import type { BackupContext } from "../backup/backup-context.ts";
import { listBackups, startBackup } from "../backup/backup-handlers.ts";
import { callGraph } from "../calls/call-graph-handler.ts";
import type { CallsContext } from "../calls/calls-context.ts";
import type { ConfigurationContext } from "../configuration/configuration-context.ts";
import { exportConfiguration, importConfiguration } from "../configuration/configuration-handlers.ts";
import { correctDeadLetter, deleteDeadLetter, listDeadLetters, oneDeadLetter } from "../dead-letters/dead-letter-handlers.ts";
import { dlqStats } from "../dead-letters/dead-letter-stats-handler.ts";
import type { DeadLettersContext } from "../dead-letters/dead-letters-context.ts";
import { replayDeadLetters, replayJob } from "../dead-letters/replay-handlers.ts";
import { importCatalog } from "../labels/catalog-handler.ts";
import { deleteLabel, listLabels, setLabel } from "../labels/label-handlers.ts";
import type { LabelsContext } from "../labels/labels-context.ts";
import type { LedgerContext } from "../ledger/ledger-context.ts";
import { readLedger } from "../ledger/ledger-handler.ts";
import { drift } from "../models/drift-handler.ts";
import { cancelTraining, listTrainings, oneTraining, trainModel } from "../models/job-handlers.ts";
import { listModels, promoteModel, rollBackModel } from "../models/model-handlers.ts";
import type { ModelsContext } from "../models/models-context.ts";
import { startDrill } from "../notification/drill-handler.ts";
import type { NotificationContext } from "../notification/notification-context.ts";
import {
  changeRoutingRule,
  createRoutingRule,
  deleteRoutingRule,
  listRoutingRules,
  testRouting,
} from "../notification/routing-handlers.ts";
import { pillarScores } from "../pillars/pillar-handler.ts";
import type { PillarsContext } from "../pillars/pillars-context.ts";
import { listServiceMap, setServiceMap } from "../pillars/service-map-handlers.ts";
import { causalRelationships, validateCausality } from "../prediction/causal-handlers.ts";
import { degradation } from "../prediction/degradation-handler.ts";
import { forecast } from "../prediction/forecast-handler.ts";
import { predict } from "../prediction/predict-handler.ts";
import type { PredictionContext } from "../prediction/prediction-context.ts";
import type { QueryHandlers } from "../queries/query-context.ts";
import { listRecords } from "../records/record-handler.ts";
import type { RecordsContext } from "../records/records-context.ts";
import { approveStep, cancelExecution, executeRunbook, listExecutions, oneExecution, rejectStep } from "../runbooks/execution-handlers.ts";
import { changeRunbook, createRunbook, deleteRunbook, listRunbooks, oneRunbook } from "../runbooks/runbook-handlers.ts";
import type { RunbooksContext } from "../runbooks/runbooks-context.ts";
import { saturationFires } from "../saturation/fire-handler.ts";
import { declareLimit, deleteLimit, listLimits } from "../saturation/limit-handlers.ts";
import type { SaturationContext } from "../saturation/saturation-context.ts";
import type { SeriesContext } from "../series/series-context.ts";
import { seriesData } from "../series/series-data-handler.ts";
import { listSeries } from "../series/series-handler.ts";
import { serviceGraph } from "../services/graph-handler.ts";
import { listServices } from "../services/service-handler.ts";
import type { ServicesContext } from "../services/services-context.ts";
import { createInhibition, deleteInhibition, listInhibitions, oneInhibition } from "../silences/inhibition-handlers.ts";
import { createSilence, deleteSilence, listSilences, oneSilence } from "../silences/silence-handlers.ts";
import type { SilencesContext } from "../silences/silences-context.ts";
import { coverage } from "../status/coverage-handler.ts";
import { acknowledgeDataFaults, listDataFaults } from "../status/data-fault-handlers.ts";
import type { StatusContext } from "../status/status-context.ts";
import { status } from "../status/status-handler.ts";
import { billingUsage } from "../usage/billing-handler.ts";
import type { UsageContext } from "../usage/usage-context.ts";
import { readCalendar, setCalendar } from "../watchdog/calendar-handlers.ts";
import type { WatchdogContext } from "../watchdog/watchdog-context.ts";
import { deleteWatchdogSettings, listWatchdogSettings, setWatchdogSettings } from "../watchdog/watchdog-settings-handlers.ts";
import { listDeliveries, testWebhook } from "../webhooks/delivery-handlers.ts";
import { changeWebhook, createWebhook, deleteWebhook, listWebhooks, oneWebhook, webhookKey } from "../webhooks/webhook-handlers.ts";
import type { WebhooksContext } from "../webhooks/webhooks-context.ts";

/** What the handlers of all nouns use together. */
export type NounsContext = UsageContext &
  AccessContext &
  LabelsContext &
  SilencesContext &
  DeadLettersContext &
  SeriesContext &
  RecordsContext &
  CallsContext &
  AlertsContext &
  AnomaliesContext &
  ServicesContext &
  PillarsContext &
  WatchdogContext &
  SaturationContext &
  PredictionContext &
  BacktestContext &
  LedgerContext &
  AnalysisContext &
  ModelsContext &
  NotificationContext &
  WebhooksContext &
  StatusContext &
  BackupContext &
  ConfigurationContext &
  RunbooksContext;

/** By the endpoint's name. */
export const HANDLERS: QueryHandlers<NounsContext>["handlers"] = {
  status,
  startBackup,
  backups: listBackups,
  exportConfiguration,
  importConfiguration,
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
  rcaReports: listReports,
  analyze,
  correlations,
  blastRadius: blastRadiusOf,
  resolutionWebhook: storeResolution,
  similarReports,
  scorecard,
  alertWebhook: takeAlerts,
  predict,
  degradation,
  forecast,
  causal: causalRelationships,
  validateCausality,
  trainModel,
  trainings: listTrainings,
  training: oneTraining,
  cancelTraining,
  models: listModels,
  promoteModel,
  rollBackModel,
  drift,
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
  services: listServices,
  graph: serviceGraph,
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
  createRoutingRule,
  routingRules: listRoutingRules,
  changeRoutingRule,
  deleteRoutingRule,
  testRouting,
  drill: startDrill,
  createWebhook,
  webhooks: listWebhooks,
  testWebhook,
  webhookKey,
  webhook: oneWebhook,
  changeWebhook,
  deleteWebhook,
  webhookDeliveries: listDeliveries,
  runbooks: listRunbooks,
  createRunbook,
  executions: listExecutions,
  execution: oneExecution,
  approveStep,
  rejectStep,
  cancelExecution,
  runbook: oneRunbook,
  changeRunbook,
  deleteRunbook,
  executeRunbook,
  watchdogSettings: listWatchdogSettings,
  setWatchdogSettings,
  deleteWatchdogSettings,
  calendar: readCalendar,
  setCalendar,
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
  "rcaReports",
  "similarReports",
  "scorecard",
  "correlations",
  "blastRadius",
  "records",
  "callGraph",
  "graph",
  "labels",
  ...DLQ,
]);
