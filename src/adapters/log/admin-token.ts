// <dataDir>/admin-token, mode 0600: who can read it owns the machine's data, and so acts as admin. Made at the first start; deleting it makes the next
// start draw another.
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "./log-file-system.ts";

const TOKEN = /^[0-9a-f]{32,}$/;

/** Path of the file. */
function adminTokenPath(dataDir: string): string {
  return join(dataDir, "admin-token");
}

/** The token in the folder, made with `makeToken` where there is none. Throws the system's error, or one that names a file that holds something else. */
export function openAdminToken(dataDir: string, makeToken: () => string): string {
  const path = adminTokenPath(dataDir);
  const stored = readText(path);
  if (stored === undefined) return storeToken(path, makeToken());
  const token = stored.trim();
  if (!TOKEN.test(token))
    throw new Error(`${path} must hold at least 32 lower-case hex digits; delete it and the next start makes another`);
  return token;
}

function storeToken(path: string, token: string): string {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, `${token}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return token;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
