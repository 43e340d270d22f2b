/**
 * Keeps servers of other containers out of the data folder, which the link of folder-lock.ts cannot tell from dead ones: a Unix socket <dataDir>/owner.<generation>
 * that the holder listens on. Whoever mounts the folder on the same machine can ask it, whatever pid namespace it is in; behind kill -9 nobody answers.
 *
 * The highest generation holds, as of the link. The socket listens under a name of its own before it is linked to its generation, which only one can make: so one that
 * is found answers, or its holder is dead.
 */
import { randomBytes } from "node:crypto";
import { linkSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { connection as connectionHome, guarded, ignoreErrors, listenOnce, listen as listenTo } from "../../core/faults/guard.ts";
import { FolderGenerations, removeFile } from "./folder-generations.ts";
import { errorCode } from "./log-file-system.ts";

/** Others may come and go between listing and making the link; nobody does so this often. */
const ATTEMPTS_MAX = 10;
/** Timeout for a holder that is busy with its start to say who it is. */
const ANSWER_MS_MAX = 2_000;
/** Length of a socket's path, by sockaddr_un. */
const PATH_BYTES_MAX = 107;
/** Length of a holder's answer. */
const HOLDER_CHARACTERS_MAX = 200;

/** A folder that is held. */
export interface FolderOwner {
  /** Gives the folder back. */
  release(): void;
}

/** The folder belongs to a server that answers. */
export class FolderOwnedError extends Error {
  constructor(dataDir: string, holder: string) {
    super(
      `${dataDir} is in use by another server, ${holder}, perhaps in another container; stop that one first, or give DATA_DIR another folder`,
    );
    this.name = "FolderOwnedError";
  }
}

/**
 * Takes the folder, which must exist. Rejects with FolderOwnedError, or the system's error; resolves with null where a socket cannot be had: a file system without
 * them, or a path longer than they may have.
 */
export async function ownFolder(dataDir: string): Promise<FolderOwner | null> {
  const own = join(dataDir, `owner.new.${randomBytes(6).toString("hex")}`);
  const server = Buffer.byteLength(own) > PATH_BYTES_MAX ? null : await listen(own);
  if (server === null) return null;
  try {
    const path = await takeGeneration(dataDir, own);
    return { release: () => close(server, path) };
  } catch (error) {
    server.close();
    throw error;
  } finally {
    removeFile(own);
  }
}

/** Links the listening socket to the next generation and returns its path. */
async function takeGeneration(dataDir: string, own: string): Promise<string> {
  const generations = new FolderGenerations(dataDir, "owner");
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const highest = generations.highest();
    const holder = highest === 0 ? DEAD : await ask(generations.path(highest));
    if (holder === GONE) continue;
    if (holder !== DEAD) throw new FolderOwnedError(dataDir, holder);
    if (!generations.make(highest + 1, (path) => linkSync(own, path))) continue;
    generations.removeBelow(highest);
    return generations.path(highest + 1);
  }
  throw new FolderOwnedError(dataDir, "one that comes and goes");
}

const DEAD = Symbol("nobody listens");
const GONE = Symbol("the socket is not there any more");

/** Answer of the holder about itself; a connection that is taken and not answered is a holder as well. */
function ask(path: string): Promise<string | typeof DEAD | typeof GONE> {
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = createConnection(path);
    const answer = () => resolve(said === "" ? "one that does not say who it is" : said.slice(0, HOLDER_CHARACTERS_MAX));
    const home = connectionHome("the question who holds the folder", () => socket.destroy());
    socket.setTimeout(
      ANSWER_MS_MAX,
      guarded(home, () => socket.destroy()),
    );
    listenTo(socket.setEncoding("utf8"), "data", home, (text: string) => {
      said += text;
    });
    listenTo(socket, "error", home, (error: Error) => {
      const code = errorCode(error);
      if (code === "ECONNREFUSED") resolve(DEAD);
      else if (code === "ENOENT") resolve(GONE);
      else reject(error);
    });
    listenTo(socket, "close", home, answer);
  });
}

/** A server that says who it is; null where the file system has no sockets. It keeps no process alive. */
function listen(path: string): Promise<Server | null> {
  const askedBy = (asking: Socket) => connectionHome("the answer who holds the folder", () => asking.destroy());
  const server = createServer(
    guarded(askedBy, (asking: Socket) => {
      ignoreErrors(asking); // whoever asked is gone
      asking.end(`process ${process.pid} on ${hostname()}`);
    }),
  );
  return new Promise((resolve, reject) => {
    listenOnce(
      server,
      "error",
      connectionHome("the socket of the folder", () => resolve(null)),
      (error: Error) => {
        const isWithout = ["EPERM", "EOPNOTSUPP", "ENOTSUP", "EINVAL", "ENOSYS"].includes(errorCode(error) ?? "");
        if (isWithout) resolve(null);
        else reject(error);
      },
    );
    server.listen(path, () => resolve(server.unref()));
  });
}

function close(server: Server, path: string): void {
  server.close();
  removeFile(path);
}
