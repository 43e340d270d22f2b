// The last fire drill of each tenant as it is stored: table `drills`.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { DRILL_STAGES, type Drill, type DrillStage } from "../../domain/notification/drill.ts";
import { list, nullable, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";

export const DRILL = new StoredForm<Drill>("drills", {
  id: text,
  tenant: text,
  by: text,
  startedAtMs: number,
  endedAtMs: number,
  stages: list(
    object<DrillStage>({ stage: oneOf(DRILL_STAGES), state: oneOf(["passed", "failed", "not_reached"]), afterMs: nullable(number) }),
  ),
  reason: nullable(text),
  environment: text,
  anomalyId: nullable(text),
  alertId: nullable(text),
});

export function drillOperation(drill: Drill): StoreOperation {
  return { table: "drills", key: new KeyBuilder().text(drill.tenant).finish(), value: DRILL.encode(drill) };
}
