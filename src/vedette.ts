#!/usr/bin/env -S node --no-memory-reducer
// The command `vedette`: `serve` runs the server as a child process and says one line where a signal ends it, which a process cannot do for itself; everything else is main's own.
// A start that ended over something that the next one leaves out is followed by that one at once. It passes signals on and ends as the server does. A server of its own, `node dist/main.js`, needs no parent.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { STARTS_AFTER_POISON_MAX } from "./core/config/set-aside-limits.ts";
import { EXIT } from "./server/exit-code.ts";

const MAIN = new URL("./main.js", import.meta.url);
const FORWARDED_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** What a shell adds to the number of the signal that ended a program. */
const SIGNAL_CODE = 128;

/** What to do about the signals that end a server that nobody has stopped. */
const ADVICE: Readonly<Record<string, string>> = {
  SIGKILL: "somebody killed it, or the system had no memory left for it (its log says so: dmesg)",
  SIGSEGV: 'a defect, or a store that is damaged: see what is left of it with "vedette doctor"',
  SIGBUS: 'a file of the data folder was cut while it was in use, or its disk fails: see what is left with "vedette doctor"',
  SIGABRT: "it ended itself, out of memory or by a defect; the lines above say more",
};

/** The server's log, as its settings want it; loaded when there is something to say. */
async function logFatal(msg: string): Promise<void> {
  const { ProcessLog } = await import("./adapters/telemetry/process-log.ts");
  const { systemClock } = await import("./adapters/platform/clock.ts");
  const format = process.env.VEDETTE_LOG_FORMAT ?? process.env.LOG_FORMAT;
  const options = { level: "error", format: format === "json" || format === "text" ? format : "auto" } as const;
  const log = new ProcessLog(options, systemClock);
  if (log.isJson) log.take({ level: "fatal", component: "parent", msg });
  else process.stderr.write(`vedette: ${msg}\n`);
}

async function endedBy(signal: NodeJS.Signals): Promise<void> {
  process.exitCode = SIGNAL_CODE + constants.signals[signal];
  const advice = ADVICE[signal];
  if (advice === undefined) return;
  await logFatal(`the server was ended by ${signal}: ${advice}. Acknowledged data is in its log: the next start reads it`);
}

function serve(args: readonly string[], starts = 1): void {
  const child = spawn(process.execPath, ["--no-memory-reducer", fileURLToPath(MAIN), ...args], { stdio: "inherit" });
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => {
    process.exitCode = 1;
    void logFatal(`the server cannot be started: ${error.message}`);
  });
  child.once("exit", (code, signal) => {
    for (const each of FORWARDED_SIGNALS) process.removeAllListeners(each);
    if (signal !== null) void endedBy(signal);
    else if (code === EXIT.again && starts <= STARTS_AFTER_POISON_MAX) serve(args, starts + 1);
    else process.exitCode = code ?? 1;
  });
}

const args = process.argv.slice(2);
const isServing = args.length === 0 || args[0] === "serve" || args[0]?.startsWith("-") === true;
if (isServing) serve(args);
else await import(MAIN.href);
