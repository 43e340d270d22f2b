// POST and GET /api/v1/backup: begins a backup of the whole folder, and lists those there are; and what is counted and logged of one that has ended.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import type { Log } from "../../core/telemetry/log-event.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { Changing } from "../access/changes.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { NounModule } from "../state/noun-module.ts";
import type { BackupRunner, EndedBackup, RunningBackup } from "./backup-runner.ts";

export const BACKUP = {
  handlers: {
    startBackup,
    backups: listBackups,
  },
} as const satisfies NounModule;

/** Begins one, with a row of the audit log. */
async function startBackup(context: BackupContext, request: QueryRequest<"startBackup">): Promise<Outcome<unknown>> {
  const { backups } = context;
  if (backups === undefined || !backups.isConfigured)
    return refused("conflict", "no folder for backups is configured: set BACKUP_DIR and start the server again");
  const outcome = await context.change<unknown>(request, () => {
    if (backups.running !== null)
      return { ok: "unchanged", outcome: refused("conflict", "a backup is being made: wait for its end, see GET /api/v1/backup") };
    return {
      ok: true,
      note: { action: "backup.start", object: "data folder", before: null, after: { whole: request.body.whole } },
      operations: [],
      apply: () => backups.start(request.body.whole),
      outcome: { ok: true, value: null },
    };
  });
  const { running } = backups;
  return outcome.ok && running !== null ? { ok: true, value: runningView(running), status: 202 } : outcome;
}

function listBackups({ backups }: BackupContext): Outcome<unknown> {
  const listed = backups?.list() ?? [];
  const [running, last] = [backups?.running ?? null, backups?.last ?? null];
  return done({
    running: running === null ? null : runningView(running),
    last:
      last === null
        ? null
        : { name: last.name, ended_at: formatRfc3339(last.endedAtMs), seconds: last.seconds, bytes: last.bytes, error: last.error },
    backups: listed,
    total: listed.length,
  });
}

function runningView({ name, startedAtMs, phase, bytes, bytesTotal }: RunningBackup) {
  return { name, started_at: formatRfc3339(startedAtMs), phase, bytes, bytes_total: bytesTotal };
}

// What the handlers of backups use.

interface BackupContext extends Changing {
  /** Backups of the folder; none where the coordinator has no folder. */
  readonly backups?: Pick<BackupRunner, "isConfigured" | "running" | "last" | "list" | "start">;
}

/** Counts a backup that has come to its end, and tells the log of it. */
export function noteBackup({ name, error, seconds, bytes, endedAtMs }: EndedBackup, counters: CoordinatorCounters, log: Log): void {
  counters.add(error === null ? "backupsMade" : "backupsFailed", 1);
  counters.set("backupSeconds", seconds);
  if (error !== null) return log("error", `the backup ${name} was not made: ${error}`);
  counters.set("backupBytes", bytes);
  counters.set("backupTime", endedAtMs / 1_000);
  log("info", `the backup ${name} is made`, { seconds, bytes });
}
