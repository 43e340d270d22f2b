// The folders that are damaged, made by real servers over the same requests: one that was stopped in order, and one that was killed, with rows that only its log holds.
import { cpSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoadSender } from "../../support/load-sender.ts";
import { LoadScript } from "../../support/load-sender-script.ts";
import { ServerProcess } from "../../support/server-process.ts";
import { type FolderContents, QUIET_SETTINGS, readContents } from "./folder-contents.ts";

/** A folder and what a server over a copy of it tells. */
interface WholeFolder {
  readonly path: string;
  readonly contents: FolderContents;
}

/** Both folders; `close` deletes them. */
export interface DamagedFolders {
  readonly stopped: WholeFolder;
  readonly killed: WholeFolder;
  close(): void;
}

const REQUESTS = 40;
const HOUR_MS = 3600 * 1000;

/** Makes both. */
export async function makeFolders(): Promise<DamagedFolders> {
  const root = mkdtempSync(join(tmpdir(), "vedette-folders-"));
  const data = join(root, "data");
  const script = new LoadScript({
    seed: 7,
    serviceId: "damaged",
    startMs: Math.floor(Date.now() / 1000) * 1000 - HOUR_MS,
    requests: REQUESTS,
  });
  const sender = new LoadSender(script.requests);
  const first = await ServerProcess.start({ ...QUIET_SETTINGS, DATA_DIR: data });
  await sender.run(first.origin, () => sender.next < REQUESTS / 2);
  await configure(first);
  await first.stop();
  const stopped = await wholeFolder(data, join(root, "stopped"));
  const second = await ServerProcess.start({ ...QUIET_SETTINGS, DATA_DIR: data });
  await sender.run(second.origin);
  await second.kill();
  const killed = await wholeFolder(data, join(root, "killed"));
  rmSync(data, { recursive: true });
  return { stopped, killed, close: () => rmSync(root, { recursive: true, force: true }) };
}

async function configure(server: ServerProcess): Promise<void> {
  const requests: ReadonlyArray<[method: string, path: string, body: unknown]> = [
    ["PUT", "/api/v1/service-labels", { service_id: "damaged", key: "team", value: "payments" }],
    ["PUT", "/api/v1/saturation/limits", { service_id: "damaged", metric: "queue_0", limit_value: 1e6, unit: "items" }],
    [
      "POST",
      "/api/v1/silences",
      { matchers: [{ name: "service_id", operator: "=", value: "other" }], recurring: WEEKENDS, comment: "weekend maintenance" },
    ],
  ];
  for (const [method, path, body] of requests) {
    const init = { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(`${server.origin}${path}`, init);
    if (!response.ok) throw new Error(`${method} ${path} says ${response.status}: ${await response.text()}`);
  }
}

const WEEKENDS = { days: ["sat", "sun"], from: "22:00", to: "06:00", timezone: "Europe/Berlin" };

/** Keeps the folder as it is, and asks a server over a copy. */
async function wholeFolder(data: string, path: string): Promise<WholeFolder> {
  copyFolder(data, path);
  const asked = `${path}-asked`;
  copyFolder(path, asked);
  const server = await ServerProcess.start({ ...QUIET_SETTINGS, DATA_DIR: asked });
  const contents = await readContents(server);
  await server.stop();
  rmSync(asked, { recursive: true });
  return { path, contents };
}

/** Copies a folder as a backup does: a socket that a killed server has left is no part of the data. */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: (path) => !lstatSync(path).isSocket() });
}
