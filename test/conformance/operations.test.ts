// What an operator does to a server and its folder besides requests: signals, files that others can read, errors where they belong.
import { spawnSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { flagsKnownTo } from "../../src/adapters/platform/v8-policy.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const bench = new ServerBench();
afterEach(() => bench.close());

/** Runs a command of the program to its end. */
function run(args: readonly string[], environment: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["dist/main.js", ...args], {
    encoding: "utf8",
    env: { ...process.env, LOG_FORMAT: "text", ...environment },
  });
  return { status, stdout, stderr };
}

/** Paths that others than the owner may use. */
function openPaths(folder: string): string[] {
  return [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))].filter((path) => {
    const entry = lstatSync(path);
    return !entry.isSymbolicLink() && (entry.mode & 0o077) !== 0;
  });
}

async function waitFor(server: ServerProcess, text: string): Promise<void> {
  await until(
    `the server writes ${text}`,
    () => server.output,
    (output) => output.includes(text),
  );
}

describe("the data folder", () => {
  it("is its owner's alone, a new one and one that was open before", async () => {
    const folder = bench.dataFolder();
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "log"), { mode: 0o755 });
    writeFileSync(join(folder, "data-faults.json"), '{"faults":[]}', { mode: 0o644 });
    writeFileSync(join(folder, "owner.new.0a1b2c3d4e5f"), "", { mode: 0o644 }); // a start that was killed
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "1" });
    expect(openPaths(folder)).toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await server.stop();
    expect(openPaths(folder)).toEqual([]);
  });

  it("tells of a secret in it that others could read until now", async () => {
    const folder = bench.dataFolder();
    writeFileSync(join(folder, "jwt-secret"), "ab".repeat(32), { mode: 0o640 });
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "1" });
    expect(server.output).toContain(`could read ${join(folder, "jwt-secret")} until now: delete it`);
    await server.stop();
  });

  it("is left as it is where it holds what is not the server's, as a home or /var does, and what the server makes there is its owner's alone", async () => {
    const folder = bench.dataFolder();
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "lib"), { mode: 0o755 });
    const strange = ["lib", "lib/passwd"].map((name) => join(folder, name));
    writeFileSync(join(folder, "lib/passwd"), "x", { mode: 0o644 });
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "1" });
    expect(openPaths(folder).sort()).toEqual([folder, ...strange].sort());
    expect(server.output).toContain(`${folder} holds what is not Vedette's (lib)`);
    await server.stop();
  });

  it.each([
    ["a file", "note"],
    ["below a file", "note/data"],
  ])("that is %s ends the start in one line", (_, name) => {
    const folder = bench.dataFolder();
    writeFileSync(join(folder, "note"), "x");
    const { status, stdout, stderr } = run([], {
      DATA_DIR: join(folder, name),
      PORT: "0",
      OTLP_PORT: "0",
      OTLP_GRPC_PORT: "0",
      ALERTS_PORT: "0",
    });
    expect([status, stdout]).toEqual([78, ""]);
    expect(stderr).toMatch(/^vedette: DATA_DIR cannot be used: [^\n]*\n$/);
  });
});

describe("a secret that others can read", () => {
  it.each([0o644, 0o640, 0o604])("in JWT_SECRET_FILE ends the start in one line (mode %o)", (mode) => {
    const folder = bench.dataFolder();
    const path = join(folder, "secret");
    writeFileSync(path, "0123456789abcdef0123456789abcdef");
    chmodSync(path, mode);
    const { status, stdout, stderr } = run([], {
      DATA_DIR: folder,
      JWT_SECRET_FILE: path,
      PORT: "0",
      OTLP_PORT: "0",
      OTLP_GRPC_PORT: "0",
      ALERTS_PORT: "0",
    });
    expect([status, stdout]).toEqual([78, ""]);
    expect(stderr).toMatch(/^vedette: JWT_SECRET_FILE names a file that other users of this machine can read: chmod 600 it[^\n]*\n$/);
  });
});

describe("admin-token", () => {
  it.each([["not a token", "must hold at least 64"]])("that holds %j ends the start in one line", async (text, says) => {
    const folder = bench.dataFolder();
    writeFileSync(join(folder, "admin-token"), text, { mode: 0o600 });
    const server = bench.launch({ DATA_DIR: folder, ENGINES: "1" });
    expect(await server.ended).toBe(78);
    expect(server.output).toMatch(/^vedette: [^\n]*admin-token[^\n]*\n$/);
    expect(server.output).toContain(says);
  });
});

describe("SIGHUP", () => {
  it("reads secrets again and ends nothing, however often", async () => {
    const folder = bench.dataFolder();
    const path = join(folder, "the-secret");
    const secretOf = (letter: string) => writeFileSync(path, letter.repeat(40), { mode: 0o600 });
    secretOf("a");
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "1", JWT_SECRET_FILE: path, READ_AUTH: "required" });
    const tokenOf = (letter: string) => run(["token"], { JWT_SECRET: letter.repeat(40) }).stdout.trim();
    const [old, next] = [tokenOf("a"), tokenOf("b")];
    const statusOf = async (token: string) =>
      (await fetch(`${server.origin}/api/v1/status`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await statusOf(old), await statusOf(next)]).toEqual([200, 401]);
    secretOf("b");
    server.signal("SIGHUP");
    await waitFor(server, "SIGHUP: files of secrets");
    expect([await statusOf(old), await statusOf(next)]).toEqual([401, 200]);
    writeFileSync(path, "short");
    server.signal("SIGHUP");
    await waitFor(server, "SIGHUP: nothing has changed: JWT_SECRET must have at least 32 bytes");
    expect(await statusOf(next)).toBe(200);
    await server.stop();
  });
});

describe("errors of the command line", () => {
  it.each([
    ["token without a secret", ["token"]],
    ["an unknown command", ["bake"]],
    ["a demo without a server", ["demo", "http://127.0.0.1:1"]],
    ["an import of no file", ["import", "/nowhere/file.csv"]],
    ["a backtest of no file", ["backtest", "--file", "/nowhere/file.csv"]],
  ])("go to standard error: %s", (_what, args) => {
    const { status, stdout, stderr } = run(args, { DATA_DIR: "/nowhere" });
    expect(status).not.toBe(0);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^[^\n]+\n$/);
  });
});

describe("flags of V8", () => {
  it("are those that this V8 lists", () => {
    const options =
      "  --memory-reducer (use it)\n        type: bool  default: true\n  --heap-growing-percent (x)\n  --initial_old_space_size (y)\n";
    const wanted = [
      "--no-memory-reducer",
      "--heap-growing-percent=100",
      "--interrupt-budget=1",
      "--initial-old-space-size=16",
      "--no-concurrent-marking",
    ];
    const says = (text: string) => wanted.filter(flagsKnownTo("0.0.1", () => text));
    expect(says(options)).toEqual(["--no-memory-reducer", "--heap-growing-percent=100", "--initial-old-space-size=16"]);
    expect(says("")).toEqual([]);
    // What stands in the program of this V8 is what it says itself.
    const here = spawnSync(process.execPath, ["--v8-options"], { encoding: "utf8" }).stdout;
    expect(wanted.filter(flagsKnownTo(process.versions.v8, () => here))).toEqual(says(here));
  });
});
