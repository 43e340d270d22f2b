// Lines to the person at the terminal.

/** Writes one line to standard output. */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes text as it is. */
export function writeText(text: string): void {
  process.stdout.write(text);
}
