/**
 * A sandbox process: it loads the interpreters and runs each once, puts up its walls, says that it is ready, and then answers one request after another with
 * calls that wait. It never comes back to Node's event loop: streams and timers would need calls that its filter refuses.
 */
import { readSync, writeSync } from "node:fs";
import { TRANSFORM_INPUT_BYTES_MAX, TRANSFORM_PROGRAM_CHARACTERS_MAX } from "../../../core/config/sandbox-limits.ts";
import { messageOf } from "../../../core/text/error-text.ts";
import {
  ANSWER_DESCRIPTOR,
  type Answer,
  answerFrame,
  LANGUAGES,
  type Language,
  NONCE_BYTES,
  REQUEST_DESCRIPTOR,
  readRequest,
} from "../frames.ts";
import { javascriptRunner } from "./javascript-program.ts";
import { jqRunner, type Runner } from "./jq-program.ts";
import { endWithParent, putUpWalls } from "./own-walls.ts";
import { pythonRunner } from "./python-program.ts";

const REQUEST_BYTES_MAX = 4 * TRANSFORM_PROGRAM_CHARACTERS_MAX + TRANSFORM_INPUT_BYTES_MAX + 64;
const NO_NONCE = new Uint8Array(NONCE_BYTES);

/** Bytes of the request's descriptor; undefined at its end. */
function readBytes(count: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(count);
  for (let filled = 0; filled < count; ) {
    const read = readSync(REQUEST_DESCRIPTOR, bytes, filled, count - filled, null);
    if (read === 0) return undefined;
    filled += read;
  }
  return bytes;
}

function write(frame: Buffer): void {
  for (let written = 0; written < frame.length; ) written += writeSync(ANSWER_DESCRIPTOR, frame, written);
}

function answerOf(runner: Runner | string, program: string, event: string): Answer {
  if (typeof runner === "string") return { kind: "failed", text: runner, line: null };
  try {
    return runner(program, event);
  } catch (error) {
    // Errors of a program are answers of its runner: what is thrown is a trap, and what is left of the interpreter would fail every program.
    return { kind: "trapped", text: `the interpreter failed: ${messageOf(error)}`, line: null };
  }
}

async function run(withPython: boolean): Promise<void> {
  endWithParent();
  // What an interpreter prints goes nowhere; Node's streams would ask the kernel what they are.
  for (const name of ["log", "error", "warn", "info", "debug"] as const) console[name] = () => undefined;
  const runners: Readonly<Record<Language, Runner | string>> = {
    jq: await jqRunner(),
    javascript: await javascriptRunner(),
    python: withPython ? pythonRunner() : "python is off",
  };
  const languages = LANGUAGES.filter((language) => typeof runners[language] !== "string");
  const walls = putUpWalls();
  write(answerFrame(NO_NONCE, { kind: "ready", text: JSON.stringify({ ...walls, languages }), line: null }));
  for (;;) {
    const length = readBytes(4)?.readUInt32LE(0);
    if (length === undefined || length > REQUEST_BYTES_MAX) break;
    const rest = readBytes(length);
    if (rest === undefined) break;
    const { nonce, language, program, event } = readRequest(rest);
    write(answerFrame(nonce, answerOf(runners[language], program, event)));
  }
  process.abort(); // an orderly exit makes calls that the filter refuses
}

await run(process.argv.includes("--python"));
