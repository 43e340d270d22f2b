// What the handlers of backups use.
import type { Changing } from "../access/changes.ts";
import type { BackupRunner } from "./backup-runner.ts";

export interface BackupContext extends Changing {
  /** Backups of the folder; none where the coordinator has no folder. */
  readonly backups?: Pick<BackupRunner, "isConfigured" | "running" | "last" | "list" | "start">;
}
