// A data folder of format 1, as it was written when format 1 began, opens and has all that it had; one of before is refused, and so is a row of an unknown form.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { afterEach, describe, expect, it } from "vitest";
import { SERIES_TABLES } from "../../../src/actors/coordinator/nouns/modules.ts";
import { openLmdbStore } from "../../../src/adapters/storage/lmdb-store.ts";
import { ServerBench, ServerProcess } from "../../support/server-process.ts";
import { listNouns, ownersDriver, storeNouns } from "./stored-nouns.ts";

const ARCHIVE = "test/fault/format/format-1.tar.gz";
const CONTENTS = "test/fault/format/format-1.json";
/** Nothing of the folder is dropped for its age within ten years. */
const SETTINGS = { ENGINES: "1", RETENTION_DAYS: "3650", RETENTION_RAW_DAYS: "3650" };

const bench = new ServerBench();
afterEach(() => bench.close());

function unpacked(): string {
  const folder = bench.dataFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  execFileSync("tar", ["xzf", ARCHIVE, "--no-same-owner", "-C", folder]);
  return folder;
}

/** The one line with which a start over the folder is refused. */
async function refusal(folder: string): Promise<string> {
  const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: folder });
  await expect(server.ready()).rejects.toThrow("before it was ready");
  return server.output;
}

describe("a data folder", () => {
  // WRITE_FORMAT=1 makes the archive of the next format: by hand, with the program that writes it, and both files get their number then.
  const write = async () => {
    const folder = bench.dataFolder();
    const server = await bench.start({ ...SETTINGS, DATA_DIR: folder });
    const { driver, close } = await ownersDriver(server);
    await storeNouns(driver);
    writeFileSync(CONTENTS, `${JSON.stringify(await listNouns(driver), null, 1)}\n`);
    close();
    await server.stop();
    execFileSync("tar", ["czf", ARCHIVE, "--owner=0", "--group=0", "-C", folder, "."]);
  };
  if (process.env["WRITE_FORMAT"] === "1") it("is written", write);

  it("of format 1 opens with all that it has", async () => {
    const server = await bench.start({ ...SETTINGS, DATA_DIR: unpacked() });
    const { driver, close } = await ownersDriver(server);
    const found = await listNouns(driver);
    close();
    expect(found).toEqual(JSON.parse(readFileSync(CONTENTS, "utf8")));
    for (const [name, rows] of Object.entries(found)) expect(rows.length, name).toBeGreaterThan(0);
  });

  it("whose values have no checksums is refused with one line that says what to do", async () => {
    const folder = unpacked();
    execFileSync("rm", ["-r", join(folder, "control")]);
    const root = open<Uint8Array, Uint8Array>({
      path: join(folder, "control"),
      noSubdir: false,
      maxDbs: 3,
      keyEncoding: "binary",
      encoding: "binary",
    });
    await root
      .openDB<Uint8Array, Uint8Array>({ name: "users", keyEncoding: "binary", encoding: "binary" })
      .put(Uint8Array.of(1), Uint8Array.of(1, 0x7b, 0x7d));
    await root.close();
    expect(await refusal(folder)).toMatch(
      /control is of an earlier format, which this version does not read .*: begin with a new DATA_DIR, or go on/,
    );
  });

  it("with a value of another form or version is refused with its table, and the value never trusted", async () => {
    const folder = unpacked();
    const series = openLmdbStore({ path: join(folder, "series"), tables: SERIES_TABLES });
    const [mark] = series.range("lane_marks", { from: new Uint8Array(0), to: new Uint8Array(8).fill(255), limit: 1 });
    const { key, value } = mark as { key: Uint8Array; value: Uint8Array };
    const text = Buffer.from(value.subarray(1)).toString();
    const cases = [
      [
        Buffer.concat([Buffer.of(1), Buffer.from(text.replace('"segment"', '"segmint"'))]),
        /table lane_marks .*: its member "segment" is not what it should be/,
      ],
      [Buffer.concat([Buffer.of(2), value.subarray(1)]), /table lane_marks .*: its version is 2, this program reads 1/],
    ] as const;
    await series.close();
    for (const [changed, line] of cases) {
      const store = openLmdbStore({ path: join(folder, "series"), tables: SERIES_TABLES });
      await store.commit([{ table: "lane_marks", key, value: changed }], { sync: true });
      await store.close();
      expect(await refusal(folder)).toMatch(line);
    }
  });
});
