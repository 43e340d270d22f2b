// The secret of HS256: of a setting, or of a file in the data folder, which is looked at every second so that a new secret counts without a restart.
import { watchFile } from "node:fs";
import type { CryptoKey } from "jose";
import { guarded, task } from "../../core/faults/guard.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { readSecretFile } from "./own-secret.ts";
import { importSecret } from "./token-verifier.ts";

const CHECK_MS = 1_000;

/** The secret in force. */
export class SecretSource {
  #text: string;
  #key: Promise<CryptoKey>;

  constructor(text: string) {
    this.#text = text;
    this.#key = importSecret(text);
  }

  get key(): Promise<CryptoKey> {
    return this.#key;
  }

  /** Puts another secret in force; false where it is the same. */
  replace(text: string): boolean {
    if (text === this.#text) return false;
    this.#text = text;
    this.#key = importSecret(text);
    return true;
  }

  /** Follows the file that the secret was read from; a file that cannot be read changes nothing. */
  follow(path: string, onChange: () => void, log: (level: "info" | "warn", line: string) => void): void {
    const check = guarded(task("the file of a secret"), () => {
      try {
        const text = readSecretFile(path);
        if (text === undefined || !this.replace(text)) return;
        log("info", `${path} has changed: tokens signed with the secret before are refused from now on`);
        onChange();
      } catch (error) {
        log("warn", `${path} cannot be used, the secret before stays in force: ${messageOf(error)}`);
      }
    });
    watchFile(path, { interval: CHECK_MS, persistent: false }, check);
  }
}
