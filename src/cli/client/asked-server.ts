// Which server a command asks, and with which token: of its options, of the environment, else of the settings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../core/text/error-text.ts";
import { UsageError } from "../../server/exit-code.ts";
import { ownAddress } from "../own-server.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Options of a command that name a server. */
export interface AskedOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly tenant?: string | undefined;
}

/** A server; `token` and `tenant` are undefined where there is none. */
export interface AskedServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string | undefined;
  readonly tenant: string | undefined;
}

/** Address of the option, of VEDETTE_URL, else of the server of the settings, whose data folder's token goes to it alone. Throws UsageError. */
export function askedServer(input: AskedOptions, environment: Environment): AskedServer {
  const named = input.url ?? environment.VEDETTE_URL;
  const url = (named ?? ownUrl(environment)).replace(/\/+$/, "");
  if (!/^(https?:\/\/|unix:\/)/.test(url))
    throw new UsageError(`--url takes http(s)://host:port or unix:/path, got ${JSON.stringify(url)}`);
  const token = tokenOf(input, environment, named === undefined);
  return { url, token, tenant: input.tenant ?? environment.VEDETTE_TENANT };
}

/** Headers that a request to it has. */
export function askingHeaders({ token, tenant }: Pick<AskedServer, "token" | "tenant">): Readonly<Record<string, string>> {
  return { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...(tenant !== undefined && { "X-Tenant-ID": tenant }) };
}

function ownUrl(environment: Environment): string {
  return environment.SOCKET ? `unix:${environment.SOCKET}` : ownAddress(environment);
}

function tokenOf(input: AskedOptions, environment: Environment, isOwnServer: boolean): string | undefined {
  const token = input.token ?? (input.tokenFile === undefined ? environment.VEDETTE_TOKEN : undefined);
  if (token !== undefined) return token;
  const named = input.tokenFile ?? environment.VEDETTE_TOKEN_FILE;
  if (named !== undefined) return readTokenFile(named);
  if (!isOwnServer) return undefined;
  try {
    return readTokenFile(join(environment.DATA_DIR ?? "./data", "admin-token"));
  } catch {
    return undefined; // a server on this machine may ask for none
  }
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new UsageError(`the token cannot be read: ${messageOf(error)}`);
  }
}
