/** Who has a data folder open, told by a socket in it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FolderOwnedError, type FolderOwner, ownFolder } from "../../../../src/adapters/log/folder-owner.ts";

let folder: string;
const owners: FolderOwner[] = [];
const take = async (at = folder) => {
  const owner = await ownFolder(at);
  if (owner !== null) owners.push(owner);
  return owner;
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "owner-"));
});
afterEach(() => {
  for (const owner of owners.splice(0)) owner.release();
  rmSync(folder, { recursive: true, force: true });
});

describe("the owner of a data folder", () => {
  it("answers whoever asks, and gives the folder back", async () => {
    const owner = await take();
    await expect(ownFolder(folder)).rejects.toThrow(FolderOwnedError);
    await expect(ownFolder(folder)).rejects.toThrow(`in use by another server, process ${process.pid} on `);
    expect(readdirSync(folder)).toEqual(["owner.1"]);
    owner?.release();
    owners.length = 0;
    await take();
    expect(readdirSync(folder)).toEqual(["owner.1"]);
  });

  it("is one of many that ask at once, behind one that was killed", async () => {
    const script = `const net = require("node:net"); net.createServer().listen(${JSON.stringify(join(folder, "owner.6"))}, () => console.log("up"));`;
    const killed = spawn(process.execPath, ["-e", script]);
    await new Promise((resolve) => killed.stdout.once("data", resolve));
    killed.kill("SIGKILL");
    await new Promise((resolve) => killed.once("exit", resolve));
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => take()));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(
      outcomes
        .filter(({ status }) => status === "rejected")
        .every((one) => (one as PromiseRejectedResult).reason instanceof FolderOwnedError),
    ).toBe(true);
    expect(readdirSync(folder)).toEqual(["owner.6", "owner.7"]);
  });

  it("takes a plain file of that name, from a copy of the folder, for nobody", async () => {
    writeFileSync(join(folder, "owner.3"), "");
    expect(await take()).not.toBeNull();
  });

  it("does without where the path is longer than a socket's may be", async () => {
    const long = join(folder, "x".repeat(100));
    mkdirSync(long);
    expect(await take(long)).toBeNull();
    expect(readdirSync(long)).toEqual([]);
  });
});
