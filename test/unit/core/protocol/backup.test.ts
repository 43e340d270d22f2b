// A manifest names files below its folder and nothing else, whoever wrote it.
import { describe, expect, it } from "vitest";
import { readBackupManifest } from "../../../../src/core/protocol/backup.ts";

const FILE = { path: "log/e0000000001-0000-00000000.log", bytes: 8, sha256: "a".repeat(64) };
const MANIFEST = {
  format: 1,
  version: "1.0.0",
  cut_at: "2026-01-31T12:00:00.000Z",
  cut_admission: 3,
  lanes: [],
  files: [FILE],
  bytes: 8,
  linked_bytes: 0,
};

describe("the manifest of a backup", () => {
  it("is read as it was written", () => {
    expect(readBackupManifest(JSON.stringify(MANIFEST))).toEqual(MANIFEST);
  });

  it.each([
    ["no JSON", "{", /not a JSON object/],
    ["no object", "3", /not a JSON object/],
    ["a later format", JSON.stringify({ ...MANIFEST, format: 2 }), /format 2/],
    ["no files", JSON.stringify({ ...MANIFEST, files: undefined }), /list of files/],
    ["no moment", JSON.stringify({ ...MANIFEST, cut_at: "soon" }), /list of files/],
    ...["../meta.json", "/etc/passwd", "log/../../x", "", "a\\b"].map((path) => [
      `the path ${JSON.stringify(path)}`,
      JSON.stringify({ ...MANIFEST, files: [{ ...FILE, path }] }),
      /list of files/,
    ]),
    ["a checksum that is none", JSON.stringify({ ...MANIFEST, files: [{ ...FILE, sha256: "x" }] }), /list of files/],
  ] as Array<[string, string, RegExp]>)("is refused with %s", (_name, text, reason) => {
    expect(() => readBackupManifest(text)).toThrow(reason);
  });
});
