import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { RuleFolder } from "../../../../src/adapters/rules/rule-folder.ts";

describe("the folder of rules", () => {
  const folder = mkdtempSync(join(tmpdir(), "vedette-rules-"));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("is read when a file of rules has changed, and not before", () => {
    const rules = new RuleFolder(folder);
    writeFileSync(join(folder, "b.yml"), "b");
    writeFileSync(join(folder, "a.yaml"), "a");
    writeFileSync(join(folder, "notes.txt"), "no rules");
    const texts = () => rules.changed()?.files.map(({ file, text }) => `${file}=${text}`);
    expect(texts()).toEqual(["a.yaml=a", "b.yml=b"]);
    expect(texts()).toBeUndefined();
    writeFileSync(join(folder, "b.yml"), "c");
    utimesSync(join(folder, "b.yml"), 1, 1);
    expect(texts()).toEqual(["a.yaml=a", "b.yml=c"]);
    rmSync(folder, { recursive: true });
    expect(rules.changed()).toMatchObject({ files: [], unread: [expect.stringContaining("ENOENT")] });
    expect(rules.changed()).toBeUndefined();
  });
});
