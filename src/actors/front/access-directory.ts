// Tenants and credentials on the main thread, as the coordinator tells of them: whoever asks here asks nobody else.
import type { AccessChange, TenantRecord } from "../../core/protocol/access.ts";
import { CredentialDirectory } from "./access/credential-directory.ts";

/** What is in force now. */
export class AccessDirectory {
  readonly #tenants = new Map<string, TenantRecord>();
  readonly credentials = new CredentialDirectory();
  /** What is stored has been read. */
  isLoaded = false;

  /** Takes changes over; they are in force when this returns. */
  take(changes: readonly AccessChange[]): void {
    for (const change of changes) {
      if (change.type === "tenant") this.#tenants.set(change.tenant.tenant, change.tenant);
      else if (change.type === "tenant-gone") this.#tenants.delete(change.tenant);
      this.credentials.take(change);
    }
    this.isLoaded = true;
  }

  /** The tenant of that name. */
  tenant(name: string): TenantRecord | undefined {
    return this.#tenants.get(name);
  }
}
