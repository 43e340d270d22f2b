// Programs of tenants are hostile: 110 of them, and a process whose interpreter is broken, get nothing of the machine, and others' runs go on.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Sandbox } from "../../src/adapters/sandbox/sandbox.ts";
import type { Transform, TransformOutcome } from "../../src/domain/webhooks/transform.ts";
import { HOSTILE_TRANSFORMS } from "./hostile-transforms.ts";

const SECRET = "a-secret-that-no-program-may-see";
const EVENT = JSON.stringify({ service_id: "checkout", anomaly_score: 0.9, root_cause: { summary: "disk", suggested_actions: ["x"] } });
const isLinuxX64 = process.platform === "linux" && process.arch === "x64";

let folder = "";
let sandbox: Sandbox;
let listener: Server;
let reached = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vedette-transforms-"));
  writeFileSync(join(folder, "secret"), SECRET);
  process.env.VEDETTE_TEST_SECRET = SECRET;
  listener = createServer(() => reached++).listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  sandbox = new Sandbox({ processes: 4, allowsPythonUnfiltered: false });
});

afterAll(() => {
  sandbox.close();
  listener.close();
  delete process.env.VEDETTE_TEST_SECRET;
  rmSync(folder, { recursive: true, force: true });
});

function transformOf(type: Transform["type"], program: string): Transform {
  return type === "jq" ? { type, expression: program, code: null } : { type, expression: null, code: program };
}

function run(tenant: string, type: Transform["type"], program: string): Promise<TransformOutcome> {
  return sandbox.transformEvent(tenant, transformOf(type, program), EVENT);
}

const HARMLESS = {
  jq: "{text: .service_id}",
  javascript: "function transform(event) { return { text: event.service_id }; }",
  python: "def transform(event):\n    return {'text': event['service_id']}",
} as const;

test.runIf(isLinuxX64)("each language makes a payload, and the walls say that they stand", async () => {
  for (const [type, program] of Object.entries(HARMLESS)) {
    const outcome = await run("own", type as Transform["type"], program);
    expect([type, outcome.kind === "payload" && JSON.parse(outcome.json)]).toEqual([type, { text: "checkout" }]);
  }
  expect(sandbox.walls).toMatchObject({ process: true, kernel: true, missing: null, languages: ["jq", "javascript", "python"] });
});

test.runIf(isLinuxX64)("errors name the line, a throw is not retried, and jq without an output drops", async () => {
  expect(await run("own", "javascript", "function transform(event) {\n\n  throw new Error('no');\n}")).toEqual({
    kind: "failed",
    error: "Error: no",
    line: 3,
    retry: false,
  });
  expect(await run("own", "python", "def transform(event):\n    return event['none']")).toEqual({
    kind: "failed",
    error: "KeyError: none",
    line: 2,
    retry: false,
  });
  expect(await run("own", "jq", "{a:\n  }}")).toMatchObject({ kind: "failed", line: 2, retry: false });
  expect(await run("own", "jq", "select(.anomaly_score > 1)")).toMatchObject({ kind: "dropped" });
  expect(await run("own", "jq", "1, 2")).toEqual({ kind: "payload", json: "1" });
});

test.runIf(isLinuxX64).each(Object.entries(HOSTILE_TRANSFORMS))("hostile programs in %s get nothing", async (type, programs) => {
  const { port } = listener.address() as { port: number };
  expect(programs.length).toBeGreaterThanOrEqual(30);
  for (const program of programs) {
    const armed = program
      .replaceAll("SECRET", join(folder, "secret"))
      .replaceAll("WRITTEN", join(folder, "written"))
      .replaceAll("PORT", String(port));
    const outcome = await run(`hostile-${type}`, type as Transform["type"], armed);
    const said = JSON.stringify(outcome);
    expect(said, program).not.toContain(SECRET);
    expect(said, program).not.toMatch(/uid=|root:x:/);
    expect(said.length, program).toBeLessThan(600_000);
    if (outcome.kind === "payload") JSON.parse(outcome.json);
  }
  expect(reached).toBe(0);
  expect(existsSync(join(folder, "written"))).toBe(false);
  expect(readFileSync(join(folder, "secret"), "utf8")).toBe(SECRET);
  expect(await run("own", type as Transform["type"], HARMLESS[type as Transform["type"]])).toMatchObject({ kind: "payload" });
});

test.runIf(isLinuxX64)("a program that overran three times is suspended, and is to be tried again", async () => {
  const endless = "function transform() { for (;;) {} }";
  for (let time = 0; time < 3; time++) expect(await run("endless", "javascript", endless)).toMatchObject({ kind: "failed", retry: false });
  expect(await run("endless", "javascript", endless)).toMatchObject({
    kind: "failed",
    retry: true,
    error: expect.stringMatching(/^suspended until/),
  });
  expect(await run("endless", "javascript", HARMLESS.javascript)).toMatchObject({ kind: "payload" });
});

test.runIf(isLinuxX64)("a broken interpreter reaches no file, process, socket or limit", async () => {
  const parameters = [new URL("broken-interpreter.mjs", import.meta.url).pathname, join(folder, "secret"), String(process.pid)];
  const child = spawn(process.execPath, parameters, { env: {}, cwd: "/", stdio: ["ignore", "ignore", "inherit", "pipe", "pipe"] });
  let text = "";
  child.stdio[4]?.on("data", (bytes: Buffer) => {
    text += bytes.toString();
  });
  await new Promise((resolve) => child.once("exit", resolve));
  const { walls, environment, results } = JSON.parse(text) as { walls: object; environment: object; results: Record<string, string> };
  expect(walls).toEqual({ limits: true, kernel: true, missing: null });
  expect(environment).toEqual({});
  expect(Object.keys(results).length).toBeGreaterThanOrEqual(50);
  const refusals = new Set(["EPERM", "EMFILE", "MODULE_NOT_FOUND", "errno 1", "ERR_WORKER_INIT_FAILED", "ERR_WORKER_OUT_OF_MEMORY"]);
  expect(Object.entries(results).filter(([, result]) => !refusals.has(result))).toEqual([]);
});

test.runIf(isLinuxX64)(
  "an interpreter that has trapped runs nothing more: the next event has a fresh process, and the program's own fails once",
  async () => {
    const trap = "reduce range(10000) as $i (1;[.])|tojson|{a:length}";
    for (let i = 0; i < 2; i++) {
      expect((await run("trapped", "jq", HARMLESS.jq)).kind).toBe("payload");
      const { kills } = sandbox.report.counts;
      expect(await run("trapped", "jq", trap)).toMatchObject({
        kind: "failed",
        error: expect.stringMatching(/interpreter failed/),
        retry: false,
      });
      expect(sandbox.report.counts.kills).toBe(kills + 2);
      expect((await run("trapped", "jq", HARMLESS.jq)).kind).toBe("payload");
      expect((await run("trapped", "javascript", HARMLESS.javascript)).kind).toBe("payload");
    }
  },
);
