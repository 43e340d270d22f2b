// Whether the stores are where meta.json, the log or one another say that they are: LMDB makes an empty one where there is none, and nobody would notice.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { listSegments } from "./log-segment.ts";
import { logDirectory, type Meta } from "./meta-file.ts";

/** Folders of the stores in a data folder, and what is lost with each. */
const STORES = [
  { name: "control", holds: "anomalies, alerts, dead letters, API keys, users, tenants, silences and the audit log" },
  { name: "series", holds: "records, stored samples and the states of all series" },
] as const;

/** Files beside the stores and the log without which a folder is another: its seed, its secrets, what of it cannot be read. */
export const RETAINED_FILES = ["meta.json", "admin-token", "jwt-secret", "data-faults.json"] as const;

const FILE = "data.mdb";

/** A store that is not where it was. */
export interface MissingStore {
  readonly name: string;
  readonly path: string;
  readonly holds: string;
}

/** Stores that have been there and are not; to be asked before one is opened. */
export function missingStores(dataDir: string, meta: Pick<Meta, "hasStores">): readonly MissingStore[] {
  const stores = STORES.map(({ name, holds }) => ({ name, holds, path: join(dataDir, name, FILE) }));
  const missing = stores.filter(({ path }) => !existsSync(path));
  const wereThere = meta.hasStores || missing.length < stores.length || listSegments(logDirectory(dataDir)).length > 0;
  return wereThere ? missing : [];
}
