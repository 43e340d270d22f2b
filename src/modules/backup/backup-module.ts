// What the coordinator folds of backups.
import type { NounModule } from "../state/noun-module.ts";
import { listBackups, startBackup } from "./backup-handlers.ts";

export const BACKUP = {
  handlers: {
    startBackup,
    backups: listBackups,
  },
} as const satisfies NounModule;
