// Lines to the person at the terminal.

/** Writes one line to standard output. */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes one line to standard error: what is wrong, so that it is not taken for what was asked for. */
export function writeError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes text as it is. */
export function writeText(text: string): void {
  process.stdout.write(text);
}

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** How much a line of the log matters. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes a line of the log unless its level is below the least one; warnings and errors go to standard error. */
export function logLine(least: LogLevel, level: LogLevel, line: string): void {
  if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
  (level === "error" || level === "warn" ? writeError : writeLine)(`${level}: ${line}`);
}
