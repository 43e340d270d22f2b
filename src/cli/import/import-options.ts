// The arguments of `vedette import`.
import { parseArgs } from "node:util";
import { messageOf } from "../../core/text/error-text.ts";
import { UsageError } from "../../server/exit-code.ts";
import { type AskedServer, askedServer } from "../client/asked-server.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Source and target of an import. */
export interface ImportOptions {
  readonly file: string;
  /** csv or json; by the file's name where it is not given. */
  readonly format: "csv" | "json";
  /** Address of the server, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  /** Undefined for the token's own. */
  readonly tenant: string | undefined;
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
  const { url, token, tenant } = asked(values, environment);
  if (token === undefined)
    throw new ImportError(
      "an import needs the admin's token: give --token, VEDETTE_TOKEN, or --token-file with the path of admin-token in the data folder",
    );
  return {
    file,
    format,
    url,
    token,
    tenant,
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
    throw new ImportError(`${messageOf(error)}; ${IMPORT_USAGE}`);
  }
}

/** Throws ImportError where the server or its token cannot be told. */
function asked(values: { url?: string; token?: string; "token-file"?: string }, environment: Environment): AskedServer {
  try {
    return askedServer({ url: values.url, token: values.token, tokenFile: values["token-file"] }, environment);
  } catch (error) {
    throw error instanceof UsageError ? new ImportError(error.message) : error;
  }
}
