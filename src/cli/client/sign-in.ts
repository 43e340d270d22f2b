// `vedette sign-in`: the link of the start, which the server wrote into its data folder where no terminal showed it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SIGN_IN_LINK_FILE } from "../../adapters/credentials/own-secret.ts";
import { CommandError, EXIT } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import type { Environment } from "./server-connection.ts";
import { writeJson } from "./table-text.ts";

/** Prints the link and nothing else. Throws CommandError where there is none. */
export function runSignIn(input: CommandArguments, environment: Environment): number {
  const path = join(environment.DATA_DIR ?? "./data", SIGN_IN_LINK_FILE);
  const link = readLink(path);
  if (input.has("json")) writeJson({ link });
  else writeLine(link);
  return EXIT.ok;
}

function readLink(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code !== "ENOENT") throw new CommandError(`${path} cannot be read (${code}); run this as the user of the server`);
    throw new CommandError(
      `${path} does not exist: the terminal of the server showed the link, or keys are the operator's; restart it, or make a token: vedette token`,
    );
  }
}
