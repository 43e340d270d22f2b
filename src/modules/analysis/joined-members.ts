// Anomalies of an incident beyond those that its report names: one row each, so that the report is found by every one of them.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { StoredForm, text } from "../state/stored-json.ts";
import { tenantTimeKey } from "../state/tables.ts";

export const MEMBERS_TABLE = "incident_members";

/** An anomaly that is a part of an incident. */
interface JoinedMember {
  readonly anomalyId: string;
  readonly reportId: string;
}

/** Where the rows of a report's members are: they come and go with it. */
interface MembersPlace {
  readonly id: string;
  readonly tenant: string;
  readonly createdAtMs: number;
}

export const JOINED_MEMBER = new StoredForm<JoinedMember>(MEMBERS_TABLE, { anomalyId: text, reportId: text });

export function memberOperations({ id: reportId, ...report }: MembersPlace, anomalyIds: readonly string[]): StoreOperation[] {
  return anomalyIds.map((anomalyId) => ({
    table: MEMBERS_TABLE,
    key: memberKey(report, anomalyId),
    value: JOINED_MEMBER.encode({ anomalyId, reportId }),
  }));
}

export function memberDeletions(report: MembersPlace, anomalyIds: readonly string[]): StoreOperation[] {
  return anomalyIds.map((anomalyId) => ({ table: MEMBERS_TABLE, key: memberKey(report, anomalyId), value: undefined }));
}

function memberKey({ tenant, createdAtMs }: Omit<MembersPlace, "id">, anomalyId: string): Uint8Array {
  return tenantTimeKey(tenant, createdAtMs, anomalyId);
}
