// The ports that a server would open: whether each is free, and else whose it is: of the server that has the data folder, or of another process.
// Which process listens on a port of TCP, by /proc: the socket's inode in net/tcp, and the process that holds it open.
// What a look at the machine finds.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { holderOf } from "../../adapters/log/folder-lock.ts";
import type { Config } from "../../core/config/load-config.ts";

const PROC = "/proc";
const LISTENING = "0A";

type Ports = Pick<Config, "HOST" | "PORT" | "OTLP_PORT" | "OTLP_GRPC_PORT" | "ALERTS_HOST" | "ALERTS_PORT" | "DATA_DIR">;

/** One finding for each port of HTTP, OTLP, gRPC and alerts. */
export async function portFindings(config: Ports): Promise<MachineFinding[]> {
  const { HOST, ALERTS_HOST } = config;
  const ports: ReadonlyArray<readonly [name: string, host: string, port: number, state: FindingState]> = [
    ["PORT", HOST, config.PORT, "problem"],
    ["OTLP_PORT", HOST, config.OTLP_PORT, "warning"],
    ["OTLP_GRPC_PORT", HOST, config.OTLP_GRPC_PORT, "warning"],
    ["ALERTS_PORT", ALERTS_HOST, config.ALERTS_PORT, "warning"],
  ];
  const holder = holderOf(resolve(config.DATA_DIR));
  const found: MachineFinding[] = [];
  for (const [name, host, port, state] of ports) {
    const error = port === 0 ? undefined : await listenError(host, port);
    if (error === undefined) found.push(finding(name, port === 0 ? "0, any or none" : `${host}:${port} is free`));
    else if (error !== "EADDRINUSE") found.push(finding(name, `${host}:${port}: ${error}`, { state, advice: `Set ${name}` }));
    else found.push(takenFinding(name, { where: `${host}:${port}`, listener: listenerOf(port), holder, state }));
  }
  return found;
}

interface Taken {
  readonly where: string;
  readonly listener: PortListener | undefined;
  /** Process that has the data folder. */
  readonly holder: number | undefined;
  readonly state: FindingState;
}

function takenFinding(name: string, { where, listener, holder, state }: Taken): MachineFinding {
  if (listener !== undefined && holder !== undefined && (listener.pid === holder || listener.parentPid === holder))
    return finding(name, `${where} is taken by process ${listener.pid}, the server that has the data folder`);
  const whose =
    listener === undefined
      ? "by a process of another user, or in another container, that cannot be seen"
      : `by process ${listener.pid} (${listener.command}), which is not the server of this data folder`;
  return finding(name, `${where} is taken ${whose}`, { state, advice: `See it with ss -ltnp, end it, or set ${name}` });
}

/** The system's code where the address cannot be listened on. */
function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => done(undefined)));
  });
}

/** A process that listens. */
interface PortListener {
  readonly pid: number;
  readonly parentPid: number;
  /** Its name, as the kernel has it. */
  readonly command: string;
}

/** The process; undefined where none is seen, as of another user. */
function listenerOf(port: number): PortListener | undefined {
  const inodes = new Set(["tcp", "tcp6"].flatMap((name) => listeningInodes(readOr(join(PROC, "net", name)), port)));
  if (inodes.size === 0) return undefined;
  for (const pid of entriesOf(PROC).filter((name) => /^[0-9]+$/.test(name))) {
    if (holdsSocket(pid, inodes)) return { pid: Number(pid), parentPid: parentOf(pid), command: readOr(join(PROC, pid, "comm")).trim() };
  }
  return undefined;
}

/** Inodes of the sockets that listen on the port, of the text of /proc/net/tcp (proc(5)). */
export function listeningInodes(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    return state === LISTENING && local.endsWith(`:${hex}`) ? [inode] : [];
  });
}

function holdsSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  const folder = join(PROC, pid, "fd");
  return entriesOf(folder).some((name) => {
    try {
      return inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, name)))?.[1] ?? "");
    } catch {
      return false; // it was closed meanwhile
    }
  });
}

function parentOf(pid: string): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readOr(join(PROC, pid, "status")))?.[1] ?? 0);
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // gone, or not ours to see
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** How bad it is. */
type FindingState = "ok" | "warning" | "problem";

export interface MachineFinding {
  readonly subject: string;
  readonly state: FindingState;
  readonly what: string;
  /** Empty where nothing is to be done. */
  readonly advice: string;
}

/** A finding that is in order, unless there is trouble. */
export function finding(
  subject: string,
  what: string,
  trouble?: { readonly state: FindingState; readonly advice: string },
): MachineFinding {
  return { subject, what, state: trouble?.state ?? "ok", advice: trouble?.advice ?? "" };
}
