// The settings CHAT_WEBHOOKS and PAGER_ROUTING_KEYS: `name=secret, tenant/name=secret, */name=secret`. Without a tenant a name is `default`'s.
import { DESTINATIONS_MAX } from "../../core/config/notification-limits.ts";

export interface NamedSecret {
  readonly tenant: string;
  readonly name: string;
  readonly secret: string;
}

const ENTRY = /^(?:(\*|[A-Za-z0-9][A-Za-z0-9._-]{0,127})\/)?#?([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

/** Destinations that a setting names, or why it cannot be read: the problem names the entry by its place, for its text may hold a secret. */
export function parseNamedSecrets(text: string): NamedSecret[] | string {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  if (entries.length > DESTINATIONS_MAX) return `has ${entries.length} entries, at most ${DESTINATIONS_MAX}`;
  const found: NamedSecret[] = [];
  for (const [index, entry] of entries.entries()) {
    const equals = entry.indexOf("=");
    const match = ENTRY.exec(entry.slice(0, Math.max(0, equals)).trim());
    const secret = entry.slice(equals + 1).trim();
    if (match === null || secret === "") return `entry ${index + 1} is not name=value or tenant/name=value`;
    const [, tenant = "default", name = ""] = match;
    if (found.some((other) => other.tenant === tenant && other.name === name)) return `names ${tenant}/${name} twice`;
    found.push({ tenant, name, secret });
  }
  return found;
}
