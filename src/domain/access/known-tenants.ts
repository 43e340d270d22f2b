// Tenants as main tells an engine of them. Main reports a tenant before it publishes the first body: what a body, or a message of another ingest, names has come,
// even where it has not been taken yet.
import { TenantDirectory } from "./tenant-directory.ts";

/** Names and numbers of one engine's tenants. */
export class KnownTenants {
  readonly #directory: TenantDirectory;
  readonly #takeCommands: () => boolean;

  /** `takeCommands` takes what main has sent, and says whether that was anything. */
  constructor(names: readonly string[], takeCommands: () => boolean) {
    this.#directory = new TenantDirectory(names);
    this.#takeCommands = takeCommands;
  }

  get count(): number {
    return this.#directory.size;
  }

  learn(number: number, name: string): void {
    this.#directory.learn(number, name);
  }

  /** Throws for a number that main has not announced. */
  name(number: number): string {
    const known = this.#directory.name(number) ?? (this.#takeCommands() ? this.#directory.name(number) : undefined);
    if (known !== undefined) return known;
    throw new Error(`a body is of tenant ${number}, of which this engine was not told`);
  }

  /** Throws for a tenant that main has not announced. */
  number(name: string): number {
    const known = this.#directory.number(name) ?? (this.#takeCommands() ? this.#directory.number(name) : undefined);
    if (known !== undefined) return known;
    throw new Error(`the data folder holds streams of tenant ${JSON.stringify(name)}, which this server does not know`);
  }
}
