// `vedette backup`: has a running server make a backup, and follows it to its end. It asks as super-admin, with a token of the data folder's own secret where none is named.

import { setTimeout as sleep } from "node:timers/promises";
import { ownMember } from "../../core/collections/own-member.ts";
import { MIB } from "../../core/config/byte-units.ts";
import { CommandError, EXIT } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { ask, connectTo, type Environment, type ServerConnection } from "../client/server-connection.ts";
import { writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";

const CHECK_MS = 250;
const PATH = "/api/v1/backup";

interface Running {
  readonly name: string;
  readonly phase: string;
  readonly bytes: number;
  readonly bytes_total: number;
}

interface Backups {
  readonly running: Running | null;
  readonly last: { readonly name: string; readonly seconds: number; readonly bytes: number; readonly error: string | null } | null;
  readonly backups: ReadonlyArray<{
    readonly name: string;
    readonly cut_at: string;
    readonly bytes: number;
    readonly linked_bytes: number;
  }>;
}

export interface BackupCommand {
  readonly environment: Environment;
  readonly isTerminal: boolean;
  /** A token of role super_admin, made with the secret of the settings or the data folder; undefined where there is none to make it with. */
  readonly ownToken: () => Promise<string | undefined>;
}

/** Makes one; exit code 1 where it is not made. Throws UnreachableError, CommandError. */
export async function runBackup(input: CommandArguments, command: BackupCommand): Promise<number> {
  const connection = await connectAsSuperAdmin(input, command);
  if (input.has("list")) return showBackups(input, await ask<Backups>(connection, PATH));
  const started = await ask<Running>(connection, PATH, { whole: input.has("whole") });
  const { last, backups } = await follow(connection, command.isTerminal && !input.has("json"));
  if (last === null || last.name !== started.name) throw new CommandError(`the server knows no end of ${started.name}: see its log`);
  const made = backups.find(({ name }) => name === started.name);
  if (input.has("json")) writeJson({ ...last, backup: made ?? null });
  else if (last.error === null)
    writeLine(
      `${last.name}: ${mib(last.bytes)} in ${last.seconds.toFixed(1)} s, of them ${mib(made?.linked_bytes ?? 0)} linked from the backup before`,
    );
  else writeError(`${last.name} was not made: ${last.error}`);
  return last.error === null ? EXIT.ok : EXIT.problems;
}

async function connectAsSuperAdmin(input: CommandArguments, { environment, ownToken }: BackupCommand): Promise<ServerConnection> {
  const connection = connectTo(input, environment);
  const names = ["token", "token-file", "url"].some((name) => input.text(name) !== undefined);
  if (names || ["VEDETTE_TOKEN", "VEDETTE_TOKEN_FILE", "VEDETTE_URL"].some((name) => ownMember(environment, name) !== undefined))
    return connection;
  const token = await ownToken();
  return token === undefined ? connection : { ...connection, headers: { ...connection.headers, Authorization: `Bearer ${token}` } };
}

async function follow(connection: ServerConnection, showsProgress: boolean): Promise<Backups> {
  for (;;) {
    const state = await ask<Backups>(connection, PATH);
    if (state.running === null) {
      if (showsProgress) process.stderr.write("\r\u001b[K");
      return state;
    }
    const { phase, bytes, bytes_total: total } = state.running;
    if (showsProgress) process.stderr.write(`\r\u001b[K${phase}: ${mib(bytes)} of ${mib(total)}`);
    await sleep(CHECK_MS);
  }
}

function showBackups(input: CommandArguments, state: Backups): number {
  if (input.has("json")) writeJson(state);
  else if (state.backups.length === 0) writeLine("there is no backup yet");
  else for (const { name, cut_at: cutAt, bytes } of state.backups) writeLine(`${name}  ${cutAt}  ${mib(bytes)}`);
  return EXIT.ok;
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
