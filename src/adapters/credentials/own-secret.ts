// Secrets that the server makes for itself: <dataDir>/admin-token and <dataDir>/jwt-secret, mode 0600. Who can read them owns the machine's data. Made at the
// first start; deleting one makes the next start draw another.
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Names of the files in the data folder. */
export const ADMIN_TOKEN_FILE = "admin-token";
export const JWT_SECRET_FILE = "jwt-secret";

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

/** Reads a secret, made with `makeSecret` where there is none. Throws the system's error, or one that names a file that holds something else. */
export function openSecretFile(dataDir: string, name: string, makeSecret: () => string): OwnSecret {
  const path = join(dataDir, name);
  const stored = readSecretFile(path);
  if (stored !== undefined) return { text: stored, path, isNew: false };
  const text = makeSecret();
  storeSecret(path, text);
  return { text, path, isNew: true };
}

/** The secret in a file, undefined where there is no file. */
export function readSecretFile(path: string): string | undefined {
  const stored = readText(path);
  if (stored === undefined) return undefined;
  const text = stored.trim();
  if (SECRET.test(text)) return text;
  throw new Error(`${path} must hold at least 64 lower-case hex digits; delete it and the next start makes another`);
}

function storeSecret(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, `${text}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
