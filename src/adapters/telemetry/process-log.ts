// The one log of the process: pino, on the main thread. Workers send their events here (core/telemetry/log-event.ts). No line stands in a hot path, so each is
// written at once and not by a thread of its own. Up to warnings on standard output, from there on on standard error.
// Lines to a file descriptor, written before the call returns: the last line before a crash is not lost. Where it takes nothing, because its disk is full, its
// reader has gone or has not read for long, lines are left out and counted: nothing is kept in memory, and no line ends the server.

import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { type Logger, multistream, pino } from "pino";
import { LOG_LINES_PER_SECOND_MAX } from "../../core/config/limits.ts";
import {
  LOG_LEVELS,
  type Log,
  type LogComponent,
  type LogEvent,
  type LogFields,
  type LogLevel,
  logOf,
} from "../../core/telemetry/log-event.ts";
import { PLACEHOLDER } from "../../core/text/secret.ts";
import { SECOND_MS } from "../../core/time/durations.ts";
import { waitBlocking } from "../platform/blocking-wait.ts";

const FULL_WAIT_MS = 5;

/** Waits for the reader of a full pipe, one line: 50 ms in all. */
const FULL_WAITS_MAX = 10;

// What is known to be a secret is a Secret (core/text/secret.ts) and never comes here.

const MASKS: ReadonlyArray<readonly [what: RegExp, replacement: string]> = [
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"']{1,2048}@/gi, `$1${PLACEHOLDER}@`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${PLACEHOLDER}`],
  [/([?&](?:access_token|api_?key|auth|key|password|secret|signature|token)=)[^&\s"']+/gi, `$1${PLACEHOLDER}`],
];

// A line of the log for people: `2026-11-25T08:00:00.000Z warn  store: what is said field=value`. Made of the JSON line, so that both say the same.

const LEVEL_WIDTH = 5;
/** Whatever a terminal might take for a command, or a reader for the next line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

export interface ProcessLogOptions {
  /** Lines below it are left out. */
  readonly level: LogLevel;
  /** auto: text where standard output is a terminal, JSON elsewhere. */
  readonly format: "auto" | "json" | "text";
}

export interface ProcessLogDependencies {
  readonly monotonicMs: () => number;
  /** The process's own, unless a test has others. */
  readonly outputs?: { readonly out: Pick<LineOutput, "write">; readonly errors: Pick<LineOutput, "write"> };
}

/** Fields that are never shown, should one ever be given. */
const SECRET_FIELDS = ["authorization", "cookie", "password", "secret", "token", "api_key"];

/** Writes and counts lines. */
export class ProcessLog {
  readonly isJson: boolean;
  readonly #pino: Logger;
  readonly #monotonicMs: () => number;
  /** Lines by level, and those left out by reason, since the start. */
  readonly written = new Map<LogLevel, number>(LOG_LEVELS.map((level) => [level, 0]));
  readonly dropped = new Map<"rate" | "output", number>([
    ["rate", 0],
    ["output", 0],
  ]);
  #secondMs = Number.NEGATIVE_INFINITY;
  #linesOfSecond = 0;
  #droppedOfSecond = 0;

  constructor({ level, format }: ProcessLogOptions, { monotonicMs, outputs }: ProcessLogDependencies) {
    this.isJson = format === "json" || (format === "auto" && !isatty(1));
    this.#monotonicMs = monotonicMs;
    const lost = () => this.#count(this.dropped, "output");
    const { out, errors } = outputs ?? { out: new LineOutput(1, lost), errors: new LineOutput(2, lost) };
    const streamTo = (output: Pick<LineOutput, "write">) => ({
      write: (line: string) => output.write(this.isJson ? line : logText(line)),
    });
    const streams = multistream(
      [
        { level: "debug", stream: streamTo(out) },
        { level: "warn", stream: streamTo(errors) },
      ],
      { dedupe: true },
    );
    const options = {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS, censor: "(secret)" },
    };
    this.#pino = pino(options, streams);
  }

  of(component: LogComponent): Log {
    return logOf(component, (event) => this.take(event));
  }

  /** Writes a line, unless its level is too low or there were too many in this second; a fatal line is always written. */
  take(event: LogEvent): void {
    if (!this.#pino.isLevelEnabled(event.level)) return;
    if (event.level !== "fatal" && !this.#hasCapacity()) return;
    this.#write(event);
  }

  #write({ level, component, msg, fields = {} }: LogEvent): void {
    this.#count(this.written, level);
    this.#pino[level]({ component, ...maskedFields(fields) }, maskSecrets(msg));
  }

  #hasCapacity(): boolean {
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#secondMs >= SECOND_MS) {
      const lines = this.#droppedOfSecond;
      [this.#secondMs, this.#linesOfSecond, this.#droppedOfSecond] = [nowMs, 0, 0];
      if (lines > 0)
        this.#write({ level: "warn", component: "server", msg: "lines of the log were left out: too many in a second", fields: { lines } });
    }
    if (this.#linesOfSecond++ < LOG_LINES_PER_SECOND_MAX) return true;
    this.#droppedOfSecond++;
    this.#count(this.dropped, "rate");
    return false;
  }

  #count<K>(counts: Map<K, number>, key: K): void {
    counts.set(key, (counts.get(key) as number) + 1);
  }
}

function maskedFields(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? maskSecrets(value) : value]));
}

/** The text of a line that pino has written. */
function logText(json: string): string {
  const { level, time, component, msg, stack, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`);
  const trace = stack === undefined ? "" : `\n${String(stack).split("\n").map(shown).join("\n")}`;
  return `${time} ${String(level).padEnd(LEVEL_WIDTH)} ${component}: ${shown(String(msg))}${rest.join("")}${trace}\n`;
}

function fieldText(value: unknown): string {
  const text = String(value);
  return /^[^\s"=]+$/.test(text) ? shown(text) : shown(JSON.stringify(text));
}

function shown(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// Takes out of a line what may be a secret though whoever wrote the line saw none: credentials in addresses and headers, which messages of libraries repeat.

/** The line without them. */
function maskSecrets(line: string): string {
  return MASKS.reduce((text, [what, replacement]) => text.replace(what, replacement), line);
}

type Write = (descriptor: number, bytes: Uint8Array, offset: number) => number;

/** One descriptor. */
export class LineOutput {
  readonly #descriptor: number;
  readonly #onLost: () => void;
  readonly #write: Write;
  /** The last line found no room: the next ones do not wait. */
  #isFull = false;

  /** `onLost` is called for each line that was not written as a whole. */
  constructor(descriptor: number, onLost: () => void, write: Write = writeSync) {
    this.#descriptor = descriptor;
    this.#onLost = onLost;
    this.#write = write;
  }

  /** Writes text that ends its line. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    let waits = this.#isFull ? FULL_WAITS_MAX : 0;
    for (let at = 0; at < bytes.length; ) {
      try {
        at += this.#write(this.#descriptor, bytes, at);
        this.#isFull = false;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN" && waits++ < FULL_WAITS_MAX) waitBlocking(FULL_WAIT_MS);
        else {
          this.#isFull = true;
          return this.#onLost();
        }
      }
    }
  }
}
