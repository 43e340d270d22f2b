// Settings that are secrets: read from NAME, or from the file that NAME_FILE names. No message here holds a value, nor the value of NAME_FILE: who mixes the
// two up has put the secret there.
import { ownMember } from "../collections/own-member.ts";
import { Secret } from "../text/secret.ts";
import { ConfigError } from "./config-error.ts";
import { SECRET_BYTES_MAX } from "./limits.ts";

export interface SecretSetting {
  readonly kind: "secret";
  readonly name: string;
  readonly initial: "";
  readonly meaning: string;
}

/** The first bytes of a file; throws the system's error, with its `code`. */
export type SecretFileReader = (path: string, bytesMax: number) => Uint8Array;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The secret; undefined where neither variable is set. Throws ConfigError, whose one line names the variable. */
export function readSecret(
  { name }: SecretSetting,
  environment: Readonly<Record<string, string | undefined>>,
  readFile: SecretFileReader,
): Secret | undefined {
  const [input, path] = [ownMember(environment, name), ownMember(environment, `${name}_FILE`)];
  if (input !== undefined && path !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set; unset one of them`);
  if (path !== undefined) return new Secret(secretOfFile(`${name}_FILE`, path, readFile));
  if (input === undefined) return undefined;
  if (input === "") throw new ConfigError(`${name} is set but empty; give it a value or unset it`);
  if (input.length > SECRET_BYTES_MAX) throw new ConfigError(`${name} is longer than ${SECRET_BYTES_MAX} bytes`);
  return new Secret(input);
}

function secretOfFile(variable: string, path: string, readFile: SecretFileReader): string {
  if (path === "") throw new ConfigError(`${variable} is set but empty; name a file or unset it`);
  const bytes = bytesOfFile(variable, path, readFile);
  if (bytes.length > SECRET_BYTES_MAX) throw new ConfigError(`${variable} names a file of more than ${SECRET_BYTES_MAX} bytes`);
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new ConfigError(`${variable} names a file that is not UTF-8 text`);
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "") throw new ConfigError(`${variable} names a file that is empty; write the secret into it`);
  return secret;
}

function bytesOfFile(variable: string, path: string, readFile: SecretFileReader): Uint8Array {
  try {
    return readFile(path, SECRET_BYTES_MAX + 1);
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    if (typeof code !== "string") throw error;
    if (code === "OPEN_TO_OTHERS")
      throw new ConfigError(
        `${variable} names a file that other users of this machine can read: chmod 600 it (Kubernetes: defaultMode 0400)`,
      );
    throw new ConfigError(`${variable} names a file that cannot be read (${code})`);
  }
}
