// What the handlers of status and coverage use.
import type { Listeners } from "../../core/protocol/query.ts";
import type { Changing } from "../access/changes.ts";
import type { TenantBook } from "../access/tenant-book.ts";
import type { AnalysisFacts } from "../analysis/analysis-runner.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { BackupRunner } from "../backup/backup-runner.ts";
import type { ChannelDeliveries } from "../notification/channel-deliveries.ts";
import type { Drills } from "../notification/drills.ts";
import type { VectorizerFacts } from "../pillars/vectorizer.ts";
import type { Using } from "../queries/query-context.ts";
import type { SloBook } from "../watchdog/slo/slo-book.ts";
import type { WatchdogFacts } from "../watchdog/watchdog.ts";
import type { SandboxFacts } from "../webhooks/sandbox-facts.ts";
import type { DataFaults } from "./data-faults.ts";
import type { DetectionLatency } from "./latency-quantile.ts";
import type { DiskFill, StoreRefusal } from "./store-facts.ts";

/** Facts of the coordinator itself in the status. */
export interface CoordinatorFacts {
  readonly enginesReady: boolean;
  /** Why the store takes no writes; null while it does. */
  readonly storeRefusal: StoreRefusal | null;
  readonly disk: DiskFill;
  /** Wall clock of the last look at the engines' verdicts. */
  readonly lastRunMs: number;
  readonly framesWaiting: number;
  readonly queriesWaiting: number;
  readonly listeners: Listeners;
  readonly vectorizer: VectorizerFacts;
  readonly watchdog: WatchdogFacts;
  readonly analysis: AnalysisFacts;
  readonly detection: DetectionLatency;
}

interface StatusSources {
  readonly dataFaults: DataFaults;
  readonly channels: Pick<ChannelDeliveries, "facts">;
  readonly backups?: Pick<BackupRunner, "isConfigured" | "running" | "last">;
  readonly drills: Pick<Drills, "facts">;
  readonly sandbox: Pick<SandboxFacts, "walls" | "processes" | "waiting">;
  facts(): CoordinatorFacts;
}

export type StatusContext = Using<
  "engines" | "nowMs" | "options",
  AnomalyBooks & { readonly slo: SloBook },
  { readonly tenants: TenantBook }
> &
  Changing &
  StatusSources;
