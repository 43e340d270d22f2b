/** Paths of Unix sockets: who may listen on one, and how its file stays the owner's alone. */
import { lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { connection, listenOnce } from "../../core/faults/guard.ts";

/** Length of a socket's path in the kernel, without the closing zero (unix(7)); a longer path would be cut without a word. */
const SOCKET_PATH_BYTES_MAX = 107;

/** Makes room for a socket: one that a killed server left is removed. Throws where the path is something else, too long, or in use. */
export async function claimSocketPath(path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > SOCKET_PATH_BYTES_MAX)
    throw new Error(`cannot listen on ${path}: it has ${bytes} bytes, of ${SOCKET_PATH_BYTES_MAX} at most`);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket()) throw new Error(`cannot listen on ${path}: something else is there, and it is left alone`);
  if (await isServed(path)) throw new Error(`cannot listen on ${path}: another process listens there`);
  releaseSocketPath(path);
}

/** Removes a socket that nobody listens on any more. */
export function releaseSocketPath(path: string): void {
  rmSync(path, { force: true });
}

/** Runs `make`, which makes files before it returns; they are readable and writable by their owner only. For the main thread. */
export function withPrivateFiles<T>(make: () => T): T {
  const before = process.umask(0o177);
  try {
    return make();
  } finally {
    process.umask(before);
  }
}

/** Whether somebody accepts connections at the path; who may not ask takes it for served. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path });
    listenOnce(
      probe,
      "connect",
      connection("the look at a Unix socket", () => resolve(true)),
      () => {
        probe.destroy();
        resolve(true);
      },
    );
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT"));
  });
}
