// Lines to the person at the terminal.

/** Goes back to the begin of a line and clears it: progress is written over itself. */
export const CLEAR_LINE = "\r\x1b[2K";

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
