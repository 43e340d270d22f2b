import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FolderLockedError, lockFolder } from "../../../../src/adapters/log/folder-lock.ts";
import { segmentPath } from "../../../../src/adapters/log/log-segment.ts";
import { logDirectory, MetaError, openMeta } from "../../../../src/adapters/log/meta-file.ts";

const SEED = "ab".repeat(32);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("meta file", () => {
  it("keeps the seed and counts epochs beyond every start and segment", () => {
    expect(openMeta(folder, () => SEED)).toEqual({ version: 1, epoch: 1, hasStores: false, seed: SEED });
    const never = () => {
      throw new Error("the seed is made once");
    };
    expect(openMeta(folder, never)).toEqual({ version: 1, epoch: 2, hasStores: false, seed: SEED });
    mkdirSync(logDirectory(folder));
    writeFileSync(segmentPath(logDirectory(folder), 41, 0, 0), "");
    expect(openMeta(folder, never).epoch).toBe(42);
    expect(JSON.parse(readFileSync(join(folder, "meta.json"), "utf8"))).toEqual({
      version: 1,
      epoch: 42,
      hasStores: false,
      seed: SEED,
      check: expect.stringMatching(/^[0-9a-f]{8}$/),
    });
  });

  it("refuses any wrong bit, or is read as if there were none", () => {
    const path = join(folder, "meta.json");
    openMeta(folder, () => SEED);
    const whole = readFileSync(path);
    let refused = 0;
    for (let bit = 0; bit < 8 * whole.length; bit++) {
      const wrong = Buffer.from(whole);
      wrong[bit >> 3] = (wrong[bit >> 3] as number) ^ (1 << (bit & 7));
      writeFileSync(path, wrong);
      try {
        expect(openMeta(folder, () => SEED)).toEqual({ version: 1, epoch: 2, hasStores: false, seed: SEED });
      } catch (error) {
        expect(error).toMatchObject({ name: "MetaError" });
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(7 * whole.length);
  });

  it.each([
    ["META_MALFORMED", ""],
    ["META_MALFORMED", "[]"],
    ["META_MALFORMED", `{"version":1,"epoch":"2","seed":"${SEED}"}`],
    ["META_VERSION", `{"version":2,"epoch":2,"seed":"${SEED}"}`],
    ["META_SEED", `{"version":1,"epoch":2,"seed":"short"}`],
  ])("refuses with %s: %s", (code, text) => {
    writeFileSync(join(folder, "meta.json"), text);
    expect(() => openMeta(folder, () => SEED)).toThrow(expect.objectContaining({ name: "MetaError", code }));
    if (code === "META_MALFORMED") expect(() => openMeta(folder, () => SEED)).toThrow("restore it from a backup");
    expect(readFileSync(join(folder, "meta.json"), "utf8")).toBe(text);
  });

  it("refuses a folder whose seed is lost, and a bad new seed", () => {
    expect(() => openMeta(folder, () => "xyz")).toThrow(MetaError);
    mkdirSync(logDirectory(folder));
    writeFileSync(segmentPath(logDirectory(folder), 3, 0, 0), "");
    expect(() => openMeta(folder, () => SEED)).toThrow(expect.objectContaining({ code: "META_MISSING" }));
  });

  it("passes over what a crash left beside it", () => {
    writeFileSync(join(folder, "meta.json.new"), "half a fi");
    expect(openMeta(folder, () => SEED).epoch).toBe(1);
  });
});

describe("folder lock", () => {
  it("is held by one and given back", () => {
    const lock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(expect.objectContaining({ name: "FolderLockedError", holderPid: process.pid }));
    lock.release();
    lock.release();
    lockFolder(folder).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("outlives a living holder and not one that was killed", async () => {
    const holder = spawn("sleep", ["60"]);
    const exited = new Promise((resolve) => holder.once("exit", resolve));
    const pid = holder.pid as number;
    lockFolder(folder, pid);
    expect(() => lockFolder(folder)).toThrow(new FolderLockedError(folder, pid));
    holder.kill("SIGKILL");
    await exited;
    const lock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(FolderLockedError);
    lock.release();
  });

  it.each([
    ["a pid that was given to another process", (boot: string) => `${process.pid}:1:${boot}`],
    ["a holder from before a reboot", () => `${process.pid}:1:00000000-0000-0000-0000-000000000000`],
    ["an unreadable holder", () => "what is this"],
  ])("is taken over from %s", (_, target) => {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    symlinkSync(target(boot), join(folder, "lock.4"));
    symlinkSync("1:1:old", join(folder, "lock.3"));
    lockFolder(folder);
    expect(readdirSync(folder).sort()).toEqual(["lock.4", "lock.5"]);
    expect(() => lockFolder(folder)).toThrow(FolderLockedError);
  });

  it("lets one of many processes win over a stale lock", async () => {
    symlinkSync("1:1:old", join(folder, "lock.1"));
    mkdirSync(join(folder, "js"));
    for (const name of ["folder-lock", "folder-generations", "log-file-system"])
      writeFileSync(join(folder, "js", `${name}.js`), transpiled(`src/adapters/log/${name}.ts`));
    writeFileSync(join(folder, "js/package.json"), `{"type":"module"}`);
    const script = `const { lockFolder } = await import(${JSON.stringify(join(folder, "js/folder-lock.js"))});
      try { lockFolder(${JSON.stringify(folder)}); console.log("won"); } catch (error) { console.log(error.name); }
      process.stdin.resume(); process.stdin.on("end", () => process.exit());`;
    const rivals = Array.from({ length: 6 }, () => spawn(process.execPath, ["--input-type=module", "-e", script]));
    const answers = await Promise.all(
      rivals.map((rival) => new Promise<string>((resolve) => rival.stdout.once("data", (text) => resolve(String(text).trim())))),
    );
    for (const rival of rivals) rival.stdin.end();
    expect(answers.sort()).toEqual([
      "FolderLockedError",
      "FolderLockedError",
      "FolderLockedError",
      "FolderLockedError",
      "FolderLockedError",
      "won",
    ]);
  });
});

/** Child processes cannot load TypeScript on Node 20. */
function transpiled(path: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, rewriteRelativeImportExtensions: true };
  return ts.transpileModule(readFileSync(path, "utf8"), { compilerOptions }).outputText;
}
