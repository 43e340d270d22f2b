// The arguments of `vedette import`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ownAddress } from "../own-server.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Source and target of an import. */
export interface ImportOptions {
  readonly file: string;
  /** csv or json; by the file's name where it is not given. */
  readonly format: "csv" | "json";
  /** Address of the server, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  /** Where it is noted how far the import is. */
  readonly progressFile: string;
  /** The outcome is written as JSON. */
  readonly isJson: boolean;
}

/** An import that cannot be done; the message is one line for the person at the terminal. */
export class ImportError extends Error {}

const IMPORT_USAGE =
  "vedette import FILE [--url http://127.0.0.1:8080] [--token TOKEN | --token-file PATH] [--format csv|json] [--progress-file PATH] [--json]";

/** Reads the arguments. The token is that of the data folder where none is given. Throws ImportError. */
export function readImportOptions(args: readonly string[], environment: Environment): ImportOptions {
  const { values, positionals } = parse(args);
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new ImportError(`give one file: ${IMPORT_USAGE}`);
  const format = values.format ?? formatOf(file);
  if (format !== "csv" && format !== "json")
    throw new ImportError(`the name of ${file} does not say what it is; give --format csv or --format json`);
  const url = values.url ?? ownAddress(environment);
  return {
    file,
    format,
    url: url.replace(/\/+$/, ""),
    token: values.token ?? readToken(values["token-file"] ?? join(environment.DATA_DIR ?? "./data", "admin-token")),
    progressFile: values["progress-file"] ?? `${file}.import-progress`,
    isJson: values.json === true,
  };
}

/** Format by the name of a file; undefined where it says nothing. */
export function formatOf(file: string): "csv" | "json" | undefined {
  if (/\.csv$/i.test(file)) return "csv";
  return /\.(?:json|jsonl|ndjson)$/i.test(file) ? "json" : undefined;
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const options = { url: text, token: text, "token-file": text, format: text, "progress-file": text, json: { type: "boolean" } } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new ImportError(`${error instanceof Error ? error.message : String(error)}; ${IMPORT_USAGE}`);
  }
}

function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ImportError(
      `an import needs the admin's token: give --token, or --token-file with the path of admin-token in the data folder (${reason})`,
    );
  }
}
