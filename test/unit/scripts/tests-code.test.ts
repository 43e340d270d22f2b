/** What `make check` says of exports that tests alone import: knip, asked of src without its tests. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";

const KNIP = resolve("test/node_modules/knip/bin/knip.js");
const folder = mkdtempSync(join(tmpdir(), "vedette-house-"));

afterAll(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

it("finds an export that a test alone imports, and none that src uses", () => {
  put("package.json", '{ "name": "made-up", "type": "module" }');
  put("knip.src.json", readFileSync("knip.src.json", "utf8"));
  put("src/main.ts", 'import { used } from "./rule.ts";\nused();\n');
  put("src/rule.ts", "export const used = () => inside;\nexport const inside = 1;\nexport const tested = 2;\n");
  put("test/rule.test.ts", 'import { tested } from "../src/rule.ts";\ntested;\n');
  const { status, stdout } = spawnSync(
    process.execPath,
    [KNIP, "--production", "--config", "knip.src.json", "--include", "files,exports", "--no-config-hints", "--no-progress"],
    { cwd: folder, encoding: "utf8" },
  );
  expect(stdout).toContain("tested");
  expect(stdout).not.toMatch(/\b(?:used|inside)\b/);
  expect(status).toBe(1);
});
