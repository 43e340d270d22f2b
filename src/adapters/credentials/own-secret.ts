// Secrets that the server makes for itself: <dataDir>/admin-token and <dataDir>/jwt-secret, mode 0600. Who can read them owns the machine's data. Made at the
// first start; deleting one makes the next start draw another.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../core/config/config-error.ts";
import { CLOSE_IT, isOpenToOthers } from "./setting-file.ts";

/** Names of the files in the data folder. */
export const ADMIN_TOKEN_FILE = "admin-token";
export const JWT_SECRET_FILE = "jwt-secret";

/** Name of the file that holds the sign-in link where no terminal shows it. */
export const SIGN_IN_LINK_FILE = "sign-in-link";

/** Random bytes of such a secret; it is stored in hex. */
export const OWN_SECRET_BYTES = 32;

const SECRET = /^[0-9a-f]{64,}$/;

/** A secret of the data folder. */
export interface OwnSecret {
  readonly text: string;
  readonly path: string;
  /** There was none before. */
  readonly isNew: boolean;
}

/** Reads a secret, made with `makeSecret` where there is none. Throws the system's error, or ConfigError where a file holds something else or others can read it. */
export function openSecretFile(dataDir: string, name: string, makeSecret: () => string): OwnSecret {
  const path = join(dataDir, name);
  const stored = readSecretFile(path);
  if (stored !== undefined) return { text: stored, path, isNew: false };
  const text = makeSecret();
  storeSecret(path, text);
  return { text, path, isNew: true };
}

/** Writes the sign-in link, for the owner's eyes only, in the place of an older one; gives the path. */
export function storeSignInLink(dataDir: string, link: string): string {
  removeSignInLink(dataDir);
  const path = join(dataDir, SIGN_IN_LINK_FILE);
  storeSecret(path, link);
  return path;
}

/** Removes the file of a link that works no more. */
export function removeSignInLink(dataDir: string): void {
  rmSync(join(dataDir, SIGN_IN_LINK_FILE), { force: true });
}

/** The secret in a file, undefined where there is no file. */
export function readSecretFile(path: string): string | undefined {
  const stored = readText(path);
  if (stored === undefined) return undefined;
  const text = stored.trim();
  if (SECRET.test(text)) return text;
  throw new ConfigError(`${path} must hold at least 64 lower-case hex digits; delete it and the next start makes another`);
}

/** Written beside and renamed: who finds the file finds all of it, after a kill too. */
function storeSecret(path: string, text: string): void {
  const beside = `${path}.new`;
  rmSync(beside, { force: true }); // of a start that was killed
  const file = openSync(beside, "wx", 0o600);
  try {
    writeFileSync(file, `${text}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(beside, path);
}

function readText(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new ConfigError(`${path} cannot be read (${code})`);
  }
  try {
    if (isOpenToOthers(file)) throw new ConfigError(`${path} holds a secret and ${CLOSE_IT}`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  } finally {
    closeSync(file);
  }
}
