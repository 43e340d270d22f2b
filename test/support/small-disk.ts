// Small file systems that a test fills and empties: tmpfs in a mount namespace of its own, which root may make, and others with a user namespace.
// A process that sleeps holds the namespace, so that the files outlive the servers that run in it.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Flags of `unshare`, and of `nsenter` for what it made. */
const NAMESPACES = [
  { unshare: ["-r", "-m"], nsenter: ["-U", "-m", "--preserve-credentials"] },
  { unshare: ["-m"], nsenter: ["-m"] },
] as const;
const FILL_STEPS = [1024 * 1024, 4096] as const;
/** Arguments: pairs of folder and bytes. */
const MOUNT = `while [ $# -gt 1 ]; do mkdir -p "$1" && mount -t tmpfs -o size="$2" tmpfs "$1" || exit 1; shift 2; done; echo; exec sleep 3600`;

const namespace = NAMESPACES.find(({ unshare }) => {
  try {
    execFileSync("unshare", [...unshare, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmpdir()], { stdio: "ignore" });
    execFileSync("nsenter", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
});

/** Whether small disks can be mounted on this machine. */
export const canMount = namespace !== undefined;

/** A folder on a small file system, and folders in it on others. */
export class SmallDisks {
  /** The folder, as it is named inside. */
  readonly folder: string;
  readonly #holder: ChildProcess;

  private constructor(folder: string, holder: ChildProcess) {
    this.folder = folder;
    this.#holder = holder;
  }

  /** Mounts file systems of so many bytes: "" is the folder itself and comes first, other names are folders in it. */
  static async mount(bytes: Readonly<Record<string, number>>): Promise<SmallDisks> {
    if (namespace === undefined) throw new Error("no small disk can be mounted here");
    const folder = mkdtempSync(join(tmpdir(), "vedette-disk-"));
    const mounts = Object.entries(bytes).flatMap(([name, size]) => [join(folder, name), String(size)]);
    const holder = spawn("unshare", [...namespace.unshare, "sh", "-c", MOUNT, "sh", ...mounts], { stdio: ["ignore", "pipe", "inherit"] });
    await once(holder.stdout as NodeJS.ReadableStream, "data");
    return new SmallDisks(folder, holder);
  }

  /** What a command line begins with to run inside, in the same working directory. */
  get prefix(): readonly string[] {
    const flags = namespace?.nsenter ?? [];
    return ["nsenter", "-t", String(this.#holder.pid), ...flags, "sh", "-c", 'cd "$0" && exec "$@"', process.cwd()];
  }

  /** Fills a disk to its last page. */
  fill(name: string): void {
    const descriptor = openSync(this.#filler(name), "w");
    for (const step of FILL_STEPS) while (hasTaken(descriptor, step));
    closeSync(descriptor);
  }

  /** Makes room again. */
  empty(name: string): void {
    unlinkSync(this.#filler(name));
  }

  #filler(name: string): string {
    return join(`/proc/${this.#holder.pid}/root`, this.folder, name, "filler");
  }

  /** Ends the namespace and all that is in it; to be called when the servers have ended. */
  close(): void {
    this.#holder.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function hasTaken(descriptor: number, bytes: number): boolean {
  try {
    return writeSync(descriptor, new Uint8Array(bytes)) > 0;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") return false;
    throw error;
  }
}

/** Whether this process can mount a small file system itself: root with that right. */
export function canMountHere(): boolean {
  const probe = mkdtempSync(join(tmpdir(), "vedette-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", probe], { stdio: "ignore" });
    execFileSync("umount", [probe]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}
