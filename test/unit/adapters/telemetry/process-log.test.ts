// The log of the process: what stands in a line, which lines are written, and what never stands in one.
import { describe, expect, it } from "vitest";
import { LineOutput, ProcessLog, type ProcessLogOptions } from "../../../../src/adapters/telemetry/process-log.ts";
import { LOG_LINES_PER_SECOND_MAX } from "../../../../src/core/config/limits.ts";
import { errorFields, type LogEvent } from "../../../../src/core/telemetry/log-event.ts";
import { Secret } from "../../../../src/core/text/secret.ts";

function rig(options: Partial<ProcessLogOptions> = {}) {
  const [out, errors]: [string[], string[]] = [[], []];
  const clock = { ms: 0 };
  const outputs = { out: { write: (line: string) => void out.push(line) }, errors: { write: (line: string) => void errors.push(line) } };
  const log = new ProcessLog({ level: "info", format: "json", ...options }, { monotonicMs: () => clock.ms, outputs });
  return { log, out, errors, clock };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("a line", () => {
  it("as JSON has time, level, component, sentence and fields", () => {
    const { log, out } = rig();
    log.of("queries")("info", "a query failed", { request_id: "0000001-f1", took_ms: 3 });
    expect(out.map((line) => JSON.parse(line))).toEqual([
      {
        time: expect.stringMatching(TIME),
        level: "info",
        component: "queries",
        msg: "a query failed",
        request_id: "0000001-f1",
        took_ms: 3,
      },
    ]);
    expect(out[0]).toMatch(/\}\n$/);
  });

  it("as text has the same, on one line", () => {
    const { log, out } = rig({ format: "text" });
    log.of("store")("info", "it is open", { path: "/a b", rows: 3 });
    expect(out).toEqual([expect.stringMatching(/^\S+Z info {2}store: it is open path="\/a b" rows=3\n$/)]);
  });

  it("goes to standard error from a warning on", () => {
    const { log, out, errors } = rig({ level: "debug" });
    for (const level of ["debug", "info", "warn", "error", "fatal"] as const) log.of("server")(level, level);
    const said = (lines: string[]) => lines.map((line) => JSON.parse(line).msg);
    expect([said(out), said(errors)]).toEqual([
      ["debug", "info"],
      ["warn", "error", "fatal"],
    ]);
  });

  it.each(["debug", "info", "warn", "error"] as const)("is left out below LOG_LEVEL=%s", (level) => {
    const { log, out, errors } = rig({ level });
    const levels = ["debug", "info", "warn", "error"] as const;
    for (const each of levels) log.of("server")(each, each);
    expect([...out, ...errors].map((line) => JSON.parse(line).msg)).toEqual(levels.slice(levels.indexOf(level)));
  });

  it("of a worker is the same as one of the main thread", () => {
    const { log, out } = rig();
    const event: LogEvent = structuredClone({ level: "info", component: "store", msg: "x", fields: { n: 1 } });
    log.take(event);
    log.of("store")("info", "x", { n: 1 });
    const [first, second] = out.map((line) => ({ ...JSON.parse(line), time: 0 }));
    expect(first).toEqual(second);
  });
});

describe("hostile text in a line", () => {
  it("makes no second line and no command of the terminal", () => {
    const text = "a\nfatal server: x\u001b[2J\r\u2028\u009b31m";
    for (const format of ["json", "text"] as const) {
      const { log, out } = rig({ format });
      log.of("access")("info", text, { name: text });
      expect(out).toHaveLength(1);
      const line = (out[0] as string).slice(0, -1);
      for (const bad of format === "text" ? ["\n", "\r", "\u001b", "\u2028", "\u009b"] : ["\n", "\r", "\u001b"])
        expect(line).not.toContain(bad);
    }
  });

  it("leaves the lines of a stack, and nothing else, as lines", () => {
    const { log, errors } = rig({ format: "text" });
    const error = new Error("no");
    error.stack = "Error: no \u001b[31m\n    at here (x.ts:1:1)";
    log.of("http")("error", "a request failed", errorFields(error));
    expect(errors[0]?.split("\n").slice(1)).toEqual(["Error: no \\u001b[31m", "    at here (x.ts:1:1)", ""]);
  });
});

describe("a secret", () => {
  const KEY = "s3cr3t-of-mine";
  it.each<[string, string, Record<string, string>]>([
    ["in an address", `fetch of https://ann:${KEY}@host/path failed`, {}],
    ["in a query", `GET /x?limit=1&token=${KEY}`, {}],
    ["in a header", `Authorization: Bearer ${KEY}`, {}],
    ["in a field of that name", "x", { password: KEY }],
    ["in a stack", "x", { stack: `Error: https://:${KEY}@host\n    at x` }],
    ["as a Secret", `x ${new Secret(KEY)}`, {}],
  ])("%s is in no line", (_, msg, fields) => {
    for (const format of ["json", "text"] as const) {
      const { log, out } = rig({ format });
      log.of("server")("info", msg, fields);
      expect(out).toHaveLength(1);
      expect(out.join("")).not.toContain(KEY);
      expect(out.join("")).toContain("(secret)");
    }
  });
});

describe("too many lines in a second", () => {
  it("are left out, counted and said; fatal ones never", () => {
    const { log, out, errors, clock } = rig();
    const write = log.of("server");
    for (let i = 0; i < LOG_LINES_PER_SECOND_MAX + 5; i++) write("info", `line ${i}`);
    write("fatal", "the end");
    expect([out.length, errors.length]).toEqual([LOG_LINES_PER_SECOND_MAX, 1]);
    expect(log.dropped.get("rate")).toBe(5);
    clock.ms = 1_000;
    write("info", "again");
    expect(JSON.parse(errors[1] as string)).toMatchObject({ level: "warn", lines: 5 });
    expect(out).toHaveLength(LOG_LINES_PER_SECOND_MAX + 1);
    expect([log.written.get("info"), log.written.get("warn"), log.written.get("fatal")]).toEqual([LOG_LINES_PER_SECOND_MAX + 1, 1, 1]);
  });
});

/** An output whose system call fails with that error while it is full. */
function outputRig(code: string, failures: number) {
  const seen = { text: "", lost: 0, calls: 0, failures };
  const write = (_: number, bytes: Uint8Array, at: number) => {
    seen.calls++;
    if (seen.failures-- > 0) throw Object.assign(new Error(code), { code });
    seen.text += Buffer.from(bytes.subarray(at, at + 3)).toString();
    return Math.min(3, bytes.length - at);
  };
  return { seen, output: new LineOutput(9, () => seen.lost++, write) };
}

describe("an output", () => {
  it("gets a line in as many pieces as it takes", () => {
    const { seen, output } = outputRig("", 0);
    output.write("0123456789\n");
    expect(seen).toMatchObject({ text: "0123456789\n", lost: 0 });
  });

  it.each(["ENOSPC", "EPIPE", "EAGAIN"])("that fails with %s loses the line, and takes the next one once it can", (code) => {
    const { seen, output } = outputRig(code, 1_000);
    output.write("first\n");
    const { calls } = seen;
    output.write("second\n");
    expect([seen.lost, seen.calls - calls]).toEqual([2, 1]); // the second one does not wait
    seen.failures = 0;
    output.write("third\n");
    expect(seen).toMatchObject({ text: "third\n", lost: 2 });
  });

  it("that is full for a moment is waited for", () => {
    const { seen, output } = outputRig("EAGAIN", 2);
    output.write("late\n");
    expect(seen).toMatchObject({ text: "late\n", lost: 0 });
  });
});
