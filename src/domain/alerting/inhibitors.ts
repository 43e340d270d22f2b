// Which alerts may keep others quiet (inhibition.ts). They are few, and every finding asks them.
import type { AlertKey } from "./alert-identity.ts";

/** The service that a tenant's silence is told of. */
export const INGESTION_SERVICE = "ingestion";

/** Whether an alert of this key may hold others back while it fires. */
export function mayInhibit({ family, serviceId }: AlertKey): boolean {
  return family === "cascade" || (family === "stale" && serviceId === INGESTION_SERVICE);
}
