// What a server tells of each noun that its data folder holds, in a form that two starts can be compared by.

import { CONTRACT_CALLS } from "../../support/contract-calls.ts";
import { ContractDriver } from "../../support/contract-driver.ts";
import { ServerClient } from "../../support/server-client.ts";
import type { ServerProcess } from "../../support/server-process.ts";

/** Calls that leave something behind, in their order in the contract's list. */
const STORES = [
  ...[
    "telemetry",
    "telemetryBatch",
    "otlpMetrics",
    "importHistory",
    "dlqStats",
    "deadLetters",
    "replayDeadLetters",
    "anomalies",
    "changeAnomaly",
  ],
  ...["declareAnomaly", "alerts", "assignAlert", "acknowledgeAlert", "createKey", "createUser", "putUser", "createTenant", "setServiceMap"],
  ...["setLabel", "importCatalog", "declareLimit", "setWatchdogSettings", "setCalendar", "createSilence", "createInhibition"],
];

/** Lists of nouns: the endpoint, the member that holds its rows, and members of a row that stay as they are however long it lies. */
const LISTS = [
  ["keys", "keys", ["key_id", "name", "scope", "created_at"]],
  ["users", "users", ["user_id", "role", "disabled"]],
  ["tenants", "tenants", ["tenant_id", "name", "plan", "created_at"]],
  ["labels", "labels", ["service_id", "key", "source", "value", "updated_at"]],
  ["limits", "limits", ["service_id", "metric", "limit_value", "unit"]],
  ["serviceMap", "entries", ["service_id", "tenant_id", "product_id", "custom_keys"]],
  ["inhibitions", "inhibitions", ["inhibition_id", "source_matchers", "target_matchers", "equal", "comment"]],
  ["anomalies", "anomalies", ["anomaly_id", "service_id", "metric_name", "detected_at", "anomaly_score", "verdict"]],
  ["alerts", "alerts", ["alert_id", "service_id", "family", "created_at", "anomaly_ids", "assignee", "acknowledged_by"]],
] as const;
/** Lists whose rows go by age: they are only read. */
const AGEING = ["silences", "deadLetters", "audit", "series", "records"];

/** A driver with the owner's token. */
export async function ownersDriver(server: ServerProcess): Promise<{ driver: ContractDriver; close: () => void }> {
  const client = new ServerClient(server.origin);
  const link = server.signInLink.searchParams.get("token") as string;
  const { access_token: token } = await new ContractDriver(client, {}).call("signIn", 200, { query: { token: link } });
  return { driver: new ContractDriver(client, { Authorization: `Bearer ${token}` }), close: () => client.close() };
}

/** Makes something of every noun. */
export async function storeNouns(driver: ContractDriver): Promise<void> {
  for (const name of STORES) await (CONTRACT_CALLS[name] as (driver: ContractDriver) => Promise<void>)(driver);
}

/** The rows of each list. */
export async function listNouns(driver: ContractDriver): Promise<Record<string, object[]>> {
  const found: Record<string, object[]> = {};
  for (const [name, member, members] of LISTS) {
    const rows = (await driver.call(name, 200))[member] as Array<Record<string, unknown>>;
    found[name] = rows.map((row) => Object.fromEntries(members.map((each) => [each, row[each]])));
  }
  for (const name of AGEING) await driver.call(name, 200);
  return found;
}
