import { z } from "zod";
import { declared } from "../declared.ts";
import { COUNT, EXAMPLE_TIME, TIMESTAMP } from "../shapes/scalars.ts";

const BACKUP = z.strictObject({
  name: z.string().describe("folder in BACKUP_DIR"),
  cut_at: TIMESTAMP.describe("everything that was acknowledged before it is inside"),
  cut_admission: COUNT.describe("highest admission number inside"),
  bytes: COUNT,
  linked_bytes: COUNT.describe("of them, bytes of log segments that are links to the backup before"),
  files: COUNT,
  version: z.string(),
});
const RUNNING = z.strictObject({
  name: z.string(),
  started_at: TIMESTAMP,
  phase: z.enum(["stores", "log", "checksums"]),
  bytes: COUNT.describe("of the phase"),
  bytes_total: COUNT,
});
const LAST = z.strictObject({
  name: z.string(),
  ended_at: TIMESTAMP,
  seconds: z.number().min(0),
  bytes: COUNT,
  error: z.string().nullable().describe("why none was made; null where it was"),
});
const RUNNING_EXAMPLE = { name: "vedette-20260131T120000Z", started_at: EXAMPLE_TIME, phase: "stores", bytes: 0, bytes_total: 0 } as const;

/** Copies of the whole data folder, made beside a running server. */
export const BACKUP_ENDPOINTS = declared([
  {
    name: "startBackup",
    method: "POST",
    path: "/api/v1/backup",
    access: "super_admin",
    body: z
      .strictObject({ whole: z.boolean().default(false).describe("true: link nothing from the backup before") })
      .default({ whole: false }),
    responses: { 202: RUNNING },
    errors: ["conflict"],
    examples: { body: { whole: false }, response: RUNNING_EXAMPLE },
    summary: "Begins a backup of all tenants into a new folder of BACKUP_DIR",
  },
  {
    name: "backups",
    method: "GET",
    path: "/api/v1/backup",
    access: "super_admin",
    responses: {
      200: z.strictObject({ running: RUNNING.nullable(), last: LAST.nullable(), backups: z.array(BACKUP), total: COUNT }),
    },
    examples: {
      response: {
        running: null,
        last: { name: "vedette-20260131T120000Z", ended_at: EXAMPLE_TIME, seconds: 4.2, bytes: 182_452_224, error: null },
        backups: [
          {
            name: "vedette-20260131T120000Z",
            cut_at: EXAMPLE_TIME,
            cut_admission: 91_250,
            bytes: 182_452_224,
            linked_bytes: 67_108_864,
            files: 8,
            version: "1.0.0",
          },
        ],
        total: 1,
      },
    },
    summary: "The backup that is being made, how the last one ended, and those in BACKUP_DIR, the newest first",
  },
]);
