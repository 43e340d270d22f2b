// The arguments of `vedette replay`.
import { parseArgs } from "node:util";
import { messageOf } from "../../core/text/error-text.ts";

/** Input of a replay and where its scores go. */
export interface ReplayOptions {
  /** File or folder. */
  readonly source: string;
  /** Normal history to learn from first; only with a single file. */
  readonly train: string | undefined;
  /** ms between the rows of files without timestamps. */
  readonly intervalMs: number | undefined;
  /** File or folder; standard output for undefined. */
  readonly out: string | undefined;
  /** A JSON object a row in place of CSV. */
  readonly isJson: boolean;
}

/** A replay that cannot be done; the message is one line for the person at the terminal. */
export class ReplayError extends Error {}

const REPLAY_USAGE = "vedette replay [--train FILE] [--interval SECONDS] [--out FILE|FOLDER] [--json] FILE|FOLDER";

/** Reads the arguments. Throws ReplayError. */
export function readReplayOptions(args: readonly string[]): ReplayOptions {
  const { values, positionals } = parse(args);
  const [source, ...others] = positionals;
  if (source === undefined || others.length > 0) throw new ReplayError(`give one file or folder: ${REPLAY_USAGE}`);
  return { source, train: values.train, intervalMs: intervalOf(values.interval), out: values.out, isJson: values.json === true };
}

function intervalOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new ReplayError(`--interval takes seconds between rows, above 0 and at most 86400, got ${text}`);
  return seconds * 1000;
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: { train: text, interval: text, out: text, json: { type: "boolean" } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new ReplayError(`${messageOf(error)}; ${REPLAY_USAGE}`);
  }
}
