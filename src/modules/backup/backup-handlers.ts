// POST and GET /api/v1/backup: begins a backup of the whole folder, and lists those there are.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { Changing } from "../access/changes.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { BackupRunner, RunningBackup } from "./backup-runner.ts";

/** Begins one, with a row of the audit log. */
export async function startBackup(context: BackupContext, request: QueryRequest<"startBackup">): Promise<Outcome<unknown>> {
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
      apply: () => {
        backups.start(request.body.whole);
        return [];
      },
      outcome: { ok: true, value: null },
    };
  });
  const { running } = backups;
  return outcome.ok && running !== null ? { ok: true, value: runningView(running), status: 202 } : outcome;
}

export function listBackups({ backups }: BackupContext): Outcome<unknown> {
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
