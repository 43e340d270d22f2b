// The calls of contract-calls.ts on root causes: an alert of somebody else's becomes an incident, is analysed and resolved.

import { SERVICE } from "./contract-bodies.ts";
import type { ContractDriver } from "./contract-driver.ts";

const UNKNOWN = "0".repeat(32);
const resolution = (incidentId: string) => ({
  incident_id: incidentId,
  service_id: SERVICE,
  resolution: "restarted it",
  resolved_by: "ada",
  time_to_recovery_minutes: 5,
  tags: ["restart"],
});

export const ANALYSIS_CALLS: Readonly<Record<string, (driver: ContractDriver) => Promise<void>>> = {
  alertWebhook: async ({ call }) => {
    const alert = { labels: { alertname: "Contract", service: SERVICE, severity: "critical" }, startsAt: new Date().toISOString() };
    await call("alertWebhook", 200, { body: { alerts: [{ ...alert, status: "firing" }], commonLabels: { region: "eu" } } });
    await call("alertWebhook", 400, { body: { alerts: [] } });
  },
  rcaReports: async ({ call }) => {
    await call("rcaReports", 200, { query: { limit: "1" } });
    await call("rcaReports", 400, { query: { limit: "0" } });
  },
  analyze: async ({ call }) => {
    const { anomalies } = await call("anomalies", 200, { query: { limit: "1" } });
    await call("analyze", 200, { body: { anomaly_id: anomalies[0].anomaly_id } });
    await call("analyze", 200, { body: { service_id: SERVICE, metric_name: "m", timestamp: new Date().toISOString() } });
    await call("analyze", 404, { body: { anomaly_id: UNKNOWN } });
    await call("analyze", 400, { body: { service_id: SERVICE } });
  },
  correlations: async ({ call }) => {
    await call("correlations", 200, { query: { service_id: SERVICE, depth: "2" } });
    await call("correlations", 404, { query: { service_id: "never sent" } });
    await call("correlations", 400, { query: { service_id: SERVICE, depth: "11" } });
  },
  blastRadius: async ({ call }) => {
    await call("blastRadius", 200, { query: { service_id: SERVICE } });
    await call("blastRadius", 404, { query: { service_id: SERVICE, metric: "never sent" } });
  },
  resolutionWebhook: async ({ call }) => {
    const { anomalies } = await call("anomalies", 200, { query: { limit: "1" } });
    const body = resolution(anomalies[0].anomaly_id);
    await call("resolutionWebhook", 200, { body });
    await call("resolutionWebhook", 200, { body });
    await call("resolutionWebhook", 404, { body: resolution(UNKNOWN) });
  },
  similarReports: async ({ call }) => {
    const { reports } = await call("rcaReports", 200, { query: { limit: "1" } });
    await call("similarReports", 200, { query: { anomaly_id: reports[0].anomaly_id } });
    await call("similarReports", 404, { query: { anomaly_id: UNKNOWN } });
  },
  scorecard: async ({ call }) => {
    await call("scorecard", 200);
  },
};
