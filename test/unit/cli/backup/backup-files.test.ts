// Files of a backup against its manifest.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifyFiles } from "../../../../src/cli/backup/restore.ts";
import type { BackupManifest } from "../../../../src/core/protocol/backup.ts";

const TEXT = "content";
const NEEDED = ["meta.json", "series/data.mdb", "control/data.mdb"];

describe("the files of a backup", () => {
  let folder = "";
  const manifest = (paths: readonly string[]): BackupManifest =>
    ({
      files: paths.map((path) => ({ path, bytes: TEXT.length, sha256: createHash("sha256").update(TEXT).digest("hex") })),
    }) as unknown as BackupManifest;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "vedette-backup-"));
    for (const path of NEEDED) {
      mkdirSync(dirname(join(folder, "backup", path)), { recursive: true });
      writeFileSync(join(folder, "backup", path), TEXT);
    }
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("are as they were written", () => {
    expect(verifyFiles(join(folder, "backup"), manifest(NEEDED))).toEqual([]);
    expect(verifyFiles(join(folder, "backup"), manifest([...NEEDED, "log/gone"]))).toEqual(["log/gone is missing"]);
  });

  it("are no links to what is elsewhere, and lie in no folder that is one", () => {
    mkdirSync(join(folder, "elsewhere"));
    writeFileSync(join(folder, "elsewhere", "file"), TEXT);
    symlinkSync(join(folder, "elsewhere", "file"), join(folder, "backup", "hostname"));
    symlinkSync(join(folder, "elsewhere"), join(folder, "backup", "sub"));
    const faults = verifyFiles(join(folder, "backup"), manifest([...NEEDED, "hostname", "sub/file"]));
    expect(faults).toEqual([expect.stringContaining("hostname is a link"), expect.stringContaining("sub is a link")]);
  });
});
