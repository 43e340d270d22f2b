// `vedette serve`: the life of the server's process. It takes the data folder, starts the server, says so, and on a signal takes it down in order.
import { randomBytes } from "node:crypto";
import { removeSignInLink, storeSignInLink } from "../adapters/credentials/own-secret.ts";
import { lockFolder } from "../adapters/log/folder-lock.ts";
import { ownFolder } from "../adapters/log/folder-owner.ts";
import { type Meta, openMeta } from "../adapters/log/meta-file.ts";
import { systemClock } from "../adapters/platform/clock.ts";
import { collectWhenIdle } from "../adapters/platform/idle-collection.ts";
import { SystemdLink } from "../adapters/platform/systemd-link.ts";
import { applyV8Policy } from "../adapters/platform/v8-policy.ts";
import { ProcessLog, type ProcessLogOptions } from "../adapters/telemetry/process-log.ts";
import type { Config } from "../core/config/load-config.ts";
import { after, background, fatal, listen, task } from "../core/faults/guard.ts";
import type { Log } from "../core/telemetry/log-event.ts";
import { checkSettings } from "./checked-settings.ts";
import { exitCodeOf } from "./exit-code.ts";
import { endStart } from "./failed-start.ts";
import { closeDataFolder, type FoundData, findData, keepFaults } from "./found-data.ts";
import { followStart, reportOpening } from "./start-report.ts";
import { writeLine } from "./terminal.ts";

/** The server as its process sees it. */
export interface ServedServer {
  /** "1 engine", or "8 engines in 2 threads". */
  readonly engineText: string;
  /** Path and query of the sign-in link; null where the operator has keys of their own. */
  readonly signInTarget: string | null;
  /** Resolves with the address once requests are served, with null where it was to stop before. */
  start(): Promise<string | null>;
  stop(): Promise<void>;
  reload(): void;
  /** Reason for which requests wait; null once they are served. */
  notReady(): string | null;
}

/** What a server is made of, once the data folder is the process's own. */
export interface ServerBasis {
  readonly meta: Meta;
  readonly found: FoundData;
  readonly log: ProcessLog;
  readonly manager: SystemdLink;
  /** To be called when the threads have loaded their modules: from then on V8 compiles early. */
  readonly compileSoon: () => void;
}

export type ServerMaker = (basis: ServerBasis) => ServedServer;

/** An orderly stop that takes longer is ended: nothing that was acknowledged depends on it. */
const STOP_MS_MAX = 18_000;
const STOP = fatal("the stop of the server");

/** Serves until a signal ends it; a start that fails ends the process with one line. `makeServer` is called when the data folder is the process's own. */
export async function serve(config: Config, version: string, makeServer: ServerMaker): Promise<void> {
  const log = new ProcessLog({ level: config.LOG_LEVEL, format: config.LOG_FORMAT } as ProcessLogOptions, systemClock);
  await start(config, version, makeServer, log).catch((error: unknown) => {
    endStart(error, log);
    process.exit(exitCodeOf(error));
  });
}

async function start(config: Config, version: string, makeServer: ServerMaker, processLog: ProcessLog): Promise<void> {
  const log = processLog.of("server");
  checkSettings(config);
  const compileSoon = applyV8Policy();
  let reload: () => void = () => undefined;
  listen(process, "SIGHUP", task("SIGHUP"), () => reload());
  const folderLog = processLog.of("data-folder");
  closeDataFolder(config.DATA_DIR, folderLog);
  const lock = lockFolder(config.DATA_DIR);
  const owner = await ownFolder(config.DATA_DIR);
  if (owner === null)
    folderLog(
      "warn",
      `${config.DATA_DIR} takes no socket (its path is too long, or its file system has none): a server in another container is not seen`,
    );
  const meta = openMeta(config.DATA_DIR, () => randomBytes(32).toString("hex"));
  const found = findData(config.DATA_DIR, meta, config.ACCEPT_DATA_LOSS === "true");
  keepFaults(config.DATA_DIR, found.faults, folderLog);
  const manager = SystemdLink.ofProcess(config.WATCHDOG_INTERVAL_SECONDS, log);
  const server = makeServer({ meta, found, log: processLog, manager, compileSoon });
  reportOpening(config.DATA_DIR, log);
  reload = () => server.reload();
  const startEnded = followStart({ log, monotonicMs: systemClock.monotonicMs, progress: () => server.notReady() });
  const stop = async () => {
    startEnded();
    manager.stopping();
    log("info", "stopping: answering what is under way, then writing checkpoints");
    after(STOP_MS_MAX, STOP, () => {
      log("error", "stopped late: not every checkpoint was written; the next start reads the log instead");
      process.exit(1);
    }).unref();
    await server.stop();
    removeSignInLink(config.DATA_DIR);
    owner?.release();
    lock.release();
    log("info", "stopped");
    process.exit(0);
  };
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) return;
    isStopping = true;
    background(STOP, stop());
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) listen(process, signal, STOP, onSignal);
  const address = await server.start();
  if (address === null) return;
  manager.ready(address);
  collectWhenIdle({ returnFree: true });
  greet(config, server, { address, version, startSeconds: startEnded() }, log);
}

interface Started {
  readonly address: string;
  readonly version: string;
  readonly startSeconds: number;
}

/** Says where the server listens; whoever sits at a terminal is also told what to do first. */
function greet(config: Config, { engineText, signInTarget }: ServedServer, started: Started, log: Log): void {
  const { address, version, startSeconds } = started;
  const socket = config.SOCKET === "" ? "" : ` and ${config.SOCKET}`;
  const fields = { version, address, start_seconds: startSeconds };
  const isTerminal = process.stdout.isTTY === true;
  // Before the line that says that it serves: who waits for that finds the link.
  const line = signInTarget === null ? undefined : signInLine(`${address}${signInTarget}`, config.DATA_DIR, isTerminal);
  log("info", `vedette ${version} listens on ${address}${socket}  (data in ${config.DATA_DIR}, ${engineText})`, fields);
  if (line !== undefined && isTerminal)
    writeLine(line); // it holds the link, which belongs in no log
  else if (line !== undefined) log("info", line);
  if (isTerminal) writeLine(`try first:  curl ${address}/healthz    or, in another terminal:  make demo`);
}

// The sign-in link makes whoever opens it first the owner of the machine's data. A terminal shows it to the person who started the server; what is not a
// terminal is mostly a log that others read and that is kept, so there a file of the owner's holds it.

/** The line that tells of the link; where it is not for a terminal the link is in a file that the line names. */
function signInLine(link: string, dataDir: string, isTerminal: boolean): string {
  removeSignInLink(dataDir); // of a start before
  if (isTerminal) return `sign in, once within 15 minutes:  ${link}`;
  return `sign in, once within 15 minutes: the link is in ${storeSignInLink(dataDir, link)}, which only its owner can read`;
}
