// The server that the settings describe, as commands reach it, and whom they believe that it is.
import { readFileSync } from "node:fs";
import type { ServerTrust, TrustBook } from "../adapters/http/server-fetch.ts";
import { ConfigError } from "../core/config/config-error.ts";
import { messageOf } from "../core/text/error-text.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Address without a slash at the end, and without the Unix socket. */
export function ownAddress({ HOST = "127.0.0.1", PORT = "8080", TLS_CERT_FILE = "" }: Environment): string {
  const host = HOST === "0.0.0.0" ? "127.0.0.1" : HOST === "::" ? "::1" : HOST;
  return `${TLS_CERT_FILE === "" ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${PORT}`;
}

/**
 * The own server is believed by the certificate in its file, whatever its name is; every other one by VEDETTE_CA_FILE besides the usual authorities
 * (and what NODE_EXTRA_CA_CERTS names).
 */
export function trustOf(environment: Environment): TrustBook {
  return (base) => ownTrust(base, environment) ?? furtherTrust(environment.VEDETTE_CA_FILE);
}

function ownTrust(base: string, environment: Environment): ServerTrust | undefined {
  const { TLS_CERT_FILE = "" } = environment;
  if (TLS_CERT_FILE === "" || base !== ownAddress(environment)) return undefined;
  try {
    return { certificates: readFileSync(TLS_CERT_FILE, "latin1"), isPinned: true };
  } catch {
    return undefined; // not ours to read: the usual authorities may know it
  }
}

function furtherTrust(path: string | undefined): ServerTrust | undefined {
  if (path === undefined) return undefined;
  try {
    return { certificates: readFileSync(path, "latin1"), isPinned: false };
  } catch (error) {
    throw new ConfigError(`VEDETTE_CA_FILE cannot be read: ${messageOf(error)}`);
  }
}
