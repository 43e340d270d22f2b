// dist/vedette.js, the command: it runs the server as a child, passes signals and exit codes on, and says one line where a signal ends the server.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { until } from "../support/until.ts";

let folder: string;
let parent: ChildProcess;
let [output, errors] = ["", ""];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-parent-"));
  [output, errors] = ["", ""];
});
afterEach(() => {
  for (const pid of holders()) killQuietly(pid);
  parent.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Processes that the folder's locks name: the server. */
function holders(): number[] {
  const locks = readdirSync(folder).filter((name) => /^lock\.\d+$/.test(name));
  return locks.map((name) => Number.parseInt(readlinkSync(join(folder, name)), 10));
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

function start(settings: Readonly<Record<string, string>> = {}, args: readonly string[] = []): Promise<[number | null, string | null]> {
  parent = spawn(process.execPath, ["dist/vedette.js", ...args], {
    env: {
      PORT: "0",
      OTLP_PORT: "0",
      OTLP_GRPC_PORT: "0",
      ALERTS_PORT: "0",
      ENGINES: "1",
      DATA_DIR: folder,
      LOG_FORMAT: "text",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  parent.stdout?.on("data", (text: Buffer) => (output += text.toString()));
  parent.stderr?.on("data", (text: Buffer) => (errors += text.toString()));
  return once(parent, "close") as Promise<[number | null, string | null]>;
}

/** Resolves once it serves; `ended` is its end. */
async function startServing(
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly ended: Promise<[number | null, string | null]> }> {
  const ended = start(settings);
  await until(
    "it serves",
    () => output + errors,
    (text) => text.includes(" listens on "),
    { patienceMs: PATIENCE_MS },
  );
  return { ended };
}

describe("the command", () => {
  it.each([
    ["SIGSEGV", 139],
    ["SIGBUS", 135],
    ["SIGABRT", 134],
    ["SIGKILL", 137],
  ] as const)("says one line where %s ends the server, and ends with %i", async (signal, expected) => {
    const { ended } = await startServing();
    const [pid] = holders() as [number];
    expect(pid).not.toBe(parent.pid);
    process.kill(pid, signal);
    expect(await ended).toEqual([expected, null]);
    expect(errors).toMatch(new RegExp(`^vedette: the server was ended by ${signal}: [^\\n]+\\n$`));
  });

  it("says so in JSON where the server's log is JSON", async () => {
    const { ended } = await startServing({ LOG_FORMAT: "auto" });
    process.kill(holders()[0] as number, "SIGKILL");
    expect(await ended).toEqual([137, null]);
    const said = { level: "fatal", component: "parent", msg: expect.stringContaining("the server was ended by SIGKILL: ") };
    expect(JSON.parse(errors)).toMatchObject(said);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("passes %s on: the server stops in order", async (signal) => {
    const { ended } = await startServing();
    parent.kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(output).toMatch(/Z info +server: stopped\n$/);
    expect(errors).toBe("");
  });

  it("ends as a server that refuses to start, with its line alone", async () => {
    expect(await start({ PORT: "99999" })).toEqual([78, null]);
    expect(output + errors).toMatch(/^vedette: PORT [^\n]+\n$/);
  });

  it("runs other commands by itself", async () => {
    expect(await start({}, ["--version"])).toEqual([0, null]);
    expect(output).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
