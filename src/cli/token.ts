// `vedette token`: makes a JWT with the secret of the settings or of the data folder. Whoever can read that may be anybody, so nothing is asked.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { JWT_SECRET_FILE, readSecretFile } from "../adapters/credentials/own-secret.ts";
import { mintToken } from "../adapters/credentials/token-mint.ts";
import { importSecret, JWT_SECRET_BYTES_MIN } from "../adapters/credentials/token-verifier.ts";
import { systemClock } from "../adapters/platform/clock.ts";
import { ownMember } from "../core/collections/own-member.ts";
import { ConfigError } from "../core/config/config-error.ts";
import type { Config } from "../core/config/load-config.ts";
import { ROLES, type Role } from "../core/protocol/access.ts";
import { messageOf } from "../core/text/error-text.ts";
import { formatRfc3339 } from "../core/time/rfc3339.ts";
import { DEFAULT_TENANT } from "../domain/access/access-policy.ts";
import { parseRole } from "../domain/access/roles.ts";
import { UsageError } from "../server/exit-code.ts";
import { writeLine } from "../server/terminal.ts";

const USAGE = "vedette token [--role viewer] [--tenant default] [--subject cli] [--expires 1h] [--json]";
const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3600_000, d: 86_400_000 };
/** No backup takes longer. */
const COMMAND_MS = 12 * 3600 * 1000;
const LIFETIME_DAYS_MAX = 3650;

/** Prints one token and nothing else. Throws ConfigError where there is no secret or an argument cannot be used. */
export async function runToken(args: readonly string[], config: Config): Promise<number> {
  const { role, tenant, subject, lifetimeMs, isJson } = readOptions(args);
  const issuedMs = systemClock.wallMs();
  const token = await ownToken(config, { role, tenant, subject, lifetimeMs, issuedMs });
  writeLine(isJson ? JSON.stringify({ token, role, tenant, expires_at: formatRfc3339(issuedMs + lifetimeMs) }) : token);
  return 0;
}

interface TokenOrder {
  readonly role: Role;
  readonly tenant: string;
  readonly subject: string;
  readonly lifetimeMs: number;
  readonly issuedMs: number;
}

/** Makes a token. Rejects with ConfigError where there is no secret to make it with. */
async function ownToken(config: Config, { role, tenant, subject, lifetimeMs, issuedMs }: TokenOrder): Promise<string> {
  return mintToken(await importSecret(readSecret(config)), {
    subject,
    issuer: config.JWT_ISSUER || undefined,
    audience: config.JWT_AUDIENCE || undefined,
    claims: { [config.JWT_CLAIM_TENANT]: tenant, [config.JWT_CLAIM_ROLE]: role },
    issuedMs,
    lifetimeMs,
  });
}

/** A token of a super-admin for the time of one command; undefined where there is no secret to make it with. */
export async function superAdminToken(config: Config, subject: string): Promise<string | undefined> {
  const order = { role: "super_admin", tenant: DEFAULT_TENANT, subject, lifetimeMs: COMMAND_MS, issuedMs: systemClock.wallMs() } as const;
  return ownToken(config, order).catch((error: unknown) => {
    if (error instanceof ConfigError) return undefined;
    throw error;
  });
}

function readOptions(args: readonly string[]): { role: Role; tenant: string; subject: string; lifetimeMs: number; isJson: boolean } {
  const { role: name, tenant, subject, expires, json: isJson } = parse(args);
  const role = parseRole(name);
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(", ")}, not ${JSON.stringify(name)}`);
  const [, count = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(expires) ?? [];
  const lifetimeMs = Number(count) * (ownMember(UNITS_MS, unit) ?? Number.NaN);
  if (lifetimeMs > 0 && lifetimeMs <= LIFETIME_DAYS_MAX * 86_400_000) return { role, tenant, subject, lifetimeMs, isJson };
  throw new UsageError(`--expires must be a time such as 30m, 12h or 7d, at most ${LIFETIME_DAYS_MAX}d, not ${JSON.stringify(expires)}`);
}

function parse(args: readonly string[]) {
  const options = {
    role: { type: "string", default: "viewer" },
    tenant: { type: "string", default: DEFAULT_TENANT },
    subject: { type: "string", default: "cli" },
    expires: { type: "string", default: "1h" },
    json: { type: "boolean", default: false },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(`${messageOf(error)}; ${USAGE}`);
  }
}

function readSecret(config: Config): string {
  if (config.JWT_SECRET !== undefined) {
    const text = config.JWT_SECRET.reveal();
    if (Buffer.byteLength(text) >= JWT_SECRET_BYTES_MIN) return text;
    throw new ConfigError(`JWT_SECRET must have at least ${JWT_SECRET_BYTES_MIN} bytes`);
  }
  if (config.JWKS_URL !== "" || config.JWKS_FILE !== "") {
    throw new ConfigError("tokens come from the identity provider of JWKS_URL or JWKS_FILE; set JWT_SECRET too to make some here");
  }
  const path = join(config.DATA_DIR, JWT_SECRET_FILE);
  const secret = readSecretFile(path);
  if (secret === undefined)
    throw new ConfigError(`${path} does not exist: start the server once, or set JWT_SECRET or DATA_DIR as it has them`);
  return secret;
}
