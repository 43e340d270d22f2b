/**
 * Python in monty, a native library. Values cross as JSON text alone: converting a large one takes seconds and 400 MB, and the deepest end the process.
 * The library is pinned by its sha256 and loaded without its package's code: 0.0.21 lost its limit of memory.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { TRANSFORM_MEMORY_BYTES_MAX, TRANSFORM_RUN_MS_MAX } from "../../../core/config/sandbox-limits.ts";
import { formatRfc3339 } from "../../../core/time/rfc3339.ts";
import { rewrittenPython } from "../../../domain/webhooks/python/python-rewriting.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Answer } from "../frames.ts";
import type { Runner } from "./jq-program.ts";
import { PYTHON_PRELUDE } from "./python-prelude.ts";

const SHA256 = "52f267cd7fa613aba6d5be997af90e536b08860b19f768055dbebe2afbf93cfa";
const FILE = "transform.py";
const LEVELS_MAX = 500;
/** Behind the tenant's program, so that its lines keep their numbers. */
const CALL = `
import json as __json
__payload = transform(__json.loads(__event))
if not isinstance(__payload, (dict, list)):
    raise TypeError("transform must return a dict, not " + type(__payload).__name__)
__json.dumps(__payload)`;

interface Failure {
  readonly exception: { readonly typeName: string; readonly message: string };
  traceback(): ReadonlyArray<{ readonly line: number }>;
  display(format: "traceback"): string;
}

interface Program {
  run(options: object): string | Failure;
}

interface Monty {
  readonly Monty: { create(code: string, options: object): Program | Failure };
}

/** Runner of Python programs, once a first one has run; or why there is none. */
export function pythonRunner(): Runner | string {
  const require = createRequire(import.meta.url);
  let monty: Monty;
  try {
    const path = require.resolve("@pydantic/monty-linux-x64-gnu");
    const actual = createHash("sha256").update(readFileSync(path)).digest("hex");
    if (actual !== SHA256) return `monty has sha256 ${actual}, not ${SHA256}: it is not loaded`;
    monty = require(path) as Monty;
  } catch {
    return `no interpreter for ${process.platform} ${process.arch}`;
  }
  const run: Runner = (program, event) => runIn(monty, program, event);
  run("def transform(event):\n    return event", "{}");
  return run;
}

function runIn({ Monty }: Monty, input: string, event: string): Answer {
  const { code, callsPrelude } = rewrittenPython(input);
  const prelude = callsPrelude ? PYTHON_PRELUDE : "";
  const own = { first: prelude.split("\n").length, lines: input.split("\n").length };
  const program = Monty.create(prelude + code + CALL, { inputs: ["__event", "__clock"], scriptName: FILE });
  if (!("run" in program)) return failure(program, own);
  const limits = { maxDurationSecs: TRANSFORM_RUN_MS_MAX / 1_000, maxMemory: TRANSFORM_MEMORY_BYTES_MAX, maxRecursionDepth: LEVELS_MAX };
  const clock = formatRfc3339(systemClock.wallMs()).replace("Z", "");
  const result = program.run({ inputs: { __event: event, __clock: clock }, limits, printCallback: () => undefined });
  return typeof result === "string" ? { kind: "payload", text: result, line: null } : failure(result, own);
}

/** `own`: where the tenant's program begins, and how long it is. */
function failure(error: Failure, own: { readonly first: number; readonly lines: number }): Answer {
  const { typeName, message } = error.exception;
  const isOverrun = typeName === "TimeoutError" && message.startsWith("time limit exceeded");
  if (isOverrun) return { kind: "overrun", text: `it ran longer than ${TRANSFORM_RUN_MS_MAX} ms`, line: null };
  const ownLine = (line: number) => (line >= own.first && line < own.first + own.lines ? line - own.first + 1 : undefined);
  const frames = "traceback" in error && typeName !== "SyntaxError" ? error.traceback() : [];
  const inProgram = frames.flatMap(({ line }) => ownLine(line) ?? []).at(-1);
  const line = inProgram ?? ownLine(Number(/line (\d+)/.exec(error.display("traceback"))?.[1] ?? 0)) ?? null;
  const isUndefined = typeName === "NameError" && inProgram === undefined;
  return { kind: "failed", text: isUndefined ? "NameError: define a function named transform" : `${typeName}: ${message}`, line };
}
