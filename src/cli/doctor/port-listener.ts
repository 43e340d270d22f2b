// Which process listens on a port of TCP, by /proc: the socket's inode in net/tcp, and the process that holds it open.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** A process that listens. */
export interface PortListener {
  readonly pid: number;
  readonly parentPid: number;
  /** Its name, as the kernel has it. */
  readonly command: string;
}

const PROC = "/proc";
const LISTENING = "0A";

/** The process; undefined where none is seen, as of another user. */
export function listenerOf(port: number): PortListener | undefined {
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
