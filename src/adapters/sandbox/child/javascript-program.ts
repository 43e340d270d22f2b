// JavaScript in QuickJS, compiled to WebAssembly: a runtime of its own for each run, with limits of time and memory.
import { newQuickJSWASMModuleFromVariant, type QuickJSContext, type QuickJSHandle, type QuickJSWASMModule } from "quickjs-emscripten-core";
import { TRANSFORM_MEMORY_BYTES_MAX, TRANSFORM_OUTPUT_BYTES_MAX, TRANSFORM_RUN_MS_MAX } from "../../../core/config/sandbox-limits.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Answer } from "../frames.ts";
import type { Runner } from "./jq-program.ts";

const FILE = "transform.js";
const STACK_BYTES_MAX = 512 * 1024;
/** Made before the tenant's program, so that what that puts in place of JSON is not called. */
const CALL = `(() => {
  const { parse, stringify } = JSON, { isArray } = Array, P = Promise;
  return (transform, event) => {
    if (typeof transform !== "function") throw new TypeError("define a function named transform");
    const payload = transform(parse(event));
    if (payload instanceof P) throw new TypeError("transform must not be async");
    if (payload === null || typeof payload !== "object") throw new TypeError("transform must return an object, not " + (payload === null ? "null" : typeof payload));
    const json = stringify(payload);
    if (json === undefined) throw new TypeError("what transform returned is no JSON");
    if (json.length > ${TRANSFORM_OUTPUT_BYTES_MAX}) throw new RangeError("transform returned more than ${TRANSFORM_OUTPUT_BYTES_MAX} bytes");
    return json;
  };
})()`;

/** Runner of JavaScript programs, once a first one has run. */
export async function javascriptRunner(): Promise<Runner> {
  const module = await newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-wasmfile-release-sync"));
  const run: Runner = (program, event) => runIn(module, program, event);
  run("function transform(event) { return event; }", "{}");
  return run;
}

function runIn(module: QuickJSWASMModule, program: string, event: string): Answer {
  const endMs = systemClock.monotonicMs() + TRANSFORM_RUN_MS_MAX;
  const runtime = module.newRuntime();
  runtime.setMemoryLimit(TRANSFORM_MEMORY_BYTES_MAX);
  runtime.setMaxStackSize(STACK_BYTES_MAX);
  let overran = false;
  runtime.setInterruptHandler(() => {
    overran = systemClock.monotonicMs() > endMs;
    return overran;
  });
  const context = runtime.newContext();
  const answer = called(context, program, event);
  if (overran) return { kind: "overrun", text: `it ran longer than ${TRANSFORM_RUN_MS_MAX} ms`, line: null };
  // Not in a finally: where the interpreter itself failed the process ends, and its memory with it.
  context.dispose();
  runtime.dispose();
  return answer;
}

function called(context: QuickJSContext, program: string, event: string): Answer {
  const call = context.unwrapResult(context.evalCode(CALL, "call.js"));
  const evaluated = context.evalCode(program, FILE);
  if (evaluated.error) return failure(context, evaluated.error, [call]);
  evaluated.value.dispose();
  const found = context.evalCode('typeof transform === "undefined" ? undefined : transform', "call.js");
  if (found.error) return failure(context, found.error, [call]);
  const text = context.newString(event);
  const result = context.callFunction(call, context.undefined, found.value, text);
  const retained = [call, found.value, text];
  if (result.error) return failure(context, result.error, retained);
  const answer: Answer = { kind: "payload", text: context.getString(result.value), line: null };
  dispose([...retained, result.value]);
  return answer;
}

function failure(context: QuickJSContext, error: QuickJSHandle, retained: readonly QuickJSHandle[]): Answer {
  const said: unknown = context.dump(error);
  dispose([...retained, error]);
  if (typeof said !== "object" || said === null) return { kind: "failed", text: String(said), line: null };
  const { name, message, stack } = said as { name?: unknown; message?: unknown; stack?: unknown };
  const line = new RegExp(`${FILE}:(\\d+)`).exec(String(stack ?? ""));
  return { kind: "failed", text: `${String(name ?? "Error")}: ${String(message ?? "")}`, line: line ? Number(line[1]) : null };
}

function dispose(handles: readonly QuickJSHandle[]): void {
  for (const handle of handles) handle.dispose();
}
