// The commands that ask a running server, as an operator types them: what they write, where, and their exit codes.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const bench = new ServerBench();
let server: ServerProcess;
let folder: string;
let dataDir: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vedette-commands-"));
  dataDir = bench.dataFolder();
  server = await bench.start({ DATA_DIR: dataDir, ENGINES: "1", READ_AUTH: "required" });
});
afterAll(async () => {
  await bench.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command with the server's own settings. */
function vedette(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Run> {
  const port = new URL(server.origin).port;
  const child = spawn(process.execPath, ["dist/vedette.js", ...words], {
    env: { PATH: process.env.PATH, VEDETTE_PORT: port, DATA_DIR: dataDir, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text: Buffer) => (out += text.toString()));
  child.stderr.on("data", (text: Buffer) => (err += text.toString()));
  return new Promise((done) => child.on("close", (code) => done({ code: code ?? -1, out, err })));
}

/** Declares an anomaly by hand, which fires an alert at once. */
async function declare(service: string, environment = ""): Promise<void> {
  const { out } = await vedette(["token", "--role", "operator"]);
  const answer = await fetch(`${server.origin}/api/v1/anomalies`, {
    method: "POST",
    headers: { Authorization: `Bearer ${out.trim()}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      service_id: service,
      metric_name: "errors",
      severity: "high",
      explanation: "checkout \u001b[31mfails",
      environment,
    }),
  });
  expect(answer.status, await answer.text()).toBeLessThan(300);
}

describe("the command line", () => {
  it("shows a server's state, as text and as JSON, with the data folder's own token", async () => {
    const text = await vedette(["status"]);
    expect(text).toMatchObject({ code: 0, err: "" });
    expect(text.out).toMatch(/^ok: vedette \S+ at http:\/\/127\.0\.0\.1:\d+, ready\n {2}parts /);
    const { out } = await vedette(["status", "--json"]);
    expect(JSON.parse(out)).toMatchObject({ ready: { status: "ready" }, status: { status: "ok" } });
  });

  it("sends the data folder's token to no server that is named", async () => {
    const { code, err } = await vedette(["alerts", "--url", server.origin]);
    expect([code, err]).toEqual([1, expect.stringMatching(/^vedette: the server answered 401: /)]);
    const token = (await vedette(["token", "--json"])).out;
    const named = await vedette(["alerts", "--url", server.origin, "--token", (JSON.parse(token) as { token: string }).token]);
    expect(named).toMatchObject({ code: 0, err: "" });
  });

  it("shows anomalies and alerts as they come, and lists them, without what would steer a terminal", async () => {
    const tail = vedette(["tail", "--count", "2", "--service", "checkout", "--json"]);
    for (let open = 0; open === 0; ) {
      const page = await (await fetch(`${server.origin}/metrics`)).text();
      open = Number(/^vedette_event_streams (\d+)/m.exec(page)?.[1] ?? 0);
    }
    await declare("checkout");
    const { code, out } = await tail;
    const events = out.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(events.map((line) => (JSON.parse(line) as { event: string }).event).sort()).toEqual(["alert", "anomaly"]);
    const list = await vedette(["alerts", "--service", "checkout"]);
    expect(list.out).toMatch(/^ID +STATE +SEVERITY[^\n]*\n[0-9a-f]{32} +firing +high +checkout/);
    expect(list.out).not.toContain("\u001b");
    for (const asked of ["alerts", "anomalies"])
      expect((await vedette([asked, "--service", "checkout"])).out).toMatch(/ TOLD .*\n.*nobody told: no channel is configured/);
    expect((await vedette(["alerts", "--service", "nobody"])).out).toBe("no alerts\n");
  });

  it("shows the environment of what comes, and whether anybody was told (points 1 and 7)", async () => {
    const tail = vedette(["tail", "--only", "alert", "--count", "1", "--service", "till"]);
    for (let open = 0; open === 0; ) {
      const page = await (await fetch(`${server.origin}/metrics`)).text();
      open = Number(/^vedette_event_streams (\d+)/m.exec(page)?.[1] ?? 0);
    }
    await declare("till", "staging");
    expect((await tail).out).toMatch(/ alert firing high till \(staging\) .*\(nobody told: no channel is configured\)\n$/);
  });

  it("makes, lists and ends a silence", async () => {
    const id = (await vedette(["silence", "add", "service_id=checkout", "--for", "2h", "--comment", "upgrade"])).out.trim();
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect((await vedette(["silence", "list"])).out).toMatch(new RegExp(`\n${id} +active +\\S+ +service_id=checkout +upgrade`));
    expect(await vedette(["silence", "end", id])).toEqual({ code: 0, out: "", err: "" });
    expect((await vedette(["silence", "list"])).out).toBe("no silences\n");
    expect(await vedette(["silence", "end", id])).toMatchObject({ code: 1, err: expect.stringMatching(/answered 4\d\d/) });
  });

  it("says where an alert goes, and with 1 that it would reach nobody", async () => {
    const { code, out } = await vedette(["routes", "test", "team=payments", "--service", "checkout", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ rule: { id: "catch-all" } });
  });

  it("checks settings without a start, and the machine", async () => {
    const file = join(folder, "bad.env");
    writeFileSync(file, "PORT=http\nRETENTION_DAYS=0\n");
    const bad = await vedette(["check-config", file], { VEDETTE_PORT: "1" });
    expect(bad).toMatchObject({ code: 78, out: "", err: 'problem: RETENTION_DAYS must be a whole number from 1 to 3650, not "0"\n' });
    const good = await vedette(["check-config", "--json"]);
    expect(JSON.parse(good.out)).toMatchObject({ problems: [], set: ["PORT", "DATA_DIR"] });
    const doctor = await vedette(["doctor", "--json"], { OTLP_PORT: "0" });
    const { findings } = JSON.parse(doctor.out) as { findings: ReadonlyArray<{ subject: string; state: string }> };
    expect(findings.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(["cores", "disk", "clock", "HTTP", "data folder", "PORT"]),
    );
    expect(doctor.code).toBe(0);
  });

  it("runs the demo: each planted anomaly is found once, and no other is told", async () => {
    const run = await vedette(["demo", "--json"]);
    const { planted, others_paged } = JSON.parse(run.out) as { planted: ReadonlyArray<{ found: number }>; others_paged: number };
    expect(planted.map(({ found }) => found)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(others_paged).toBe(0);
    expect(run.code).toBe(0);
  });

  const failures: Array<[words: string[], environment: Record<string, string>, code: number, message: RegExp]> = [
    [["sttus"], {}, 2, /unknown command "sttus"; did you mean vedette status\?/],
    [["status", "--jsn"], {}, 2, /no option --jsn; did you mean --json\?/],
    [["alerts", "snooze", "0".repeat(32), "--for", "8d"], {}, 2, /--for takes 7d at most, got "8d"/],
    [["token", "--expires", "soon"], {}, 2, /--expires must be a time/],
    [["status"], { VEDETTE_PORT: "1" }, 69, /no server answers at http:\/\/127\.0\.0\.1:1 /],
    [["demo", "http://127.0.0.1:1"], {}, 69, /no server is ready/],
    [
      ["backtest", "--since", "2026-01-01T00:00:00Z", "--until", "2026-01-02T00:00:00Z", "--url", "http://127.0.0.1:1"],
      {},
      69,
      /cannot be reached/,
    ],
    [["serve"], { VEDETTE_PROT: "1" }, 78, /VEDETTE_PROT is no setting; did you mean VEDETTE_PORT\?/],
    [["serve"], { VEDETTE_PORT: "http" }, 78, /PORT must be a whole number/],
    [["status", "--config", "/nowhere/vedette.env"], {}, 78, /\/nowhere\/vedette\.env cannot be read/],
  ];
  it.each(failures)("%j with %j ends with %i and one line on standard error", async (words, environment, code, message) => {
    const run = await vedette(words, environment);
    expect(run).toMatchObject({ code, out: "" });
    expect(run.err).toMatch(message);
    expect(run.err.trimEnd().split("\n")).toHaveLength(1);
  });
});
