// The sign-in link that the start prints where the server made its own secret: whoever reads the terminal owns the machine's data. It works once.
import { credentialDigest, credentialName, isNameOf } from "../../../adapters/credentials/credential-hash.ts";
import type { HttpHeaders } from "../../../adapters/http/http-server.ts";
import { DEFAULT_TENANT } from "../../../domain/access/access-policy.ts";

/** Validity of an unused link, and of a session: a cup of coffee, a working day. */
const LINK_MS_MAX = 15 * 60_000;
const SESSION_MS = 12 * 3600_000;
const SUBJECT = "owner";
const ROLE = "super_admin";

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Vedette</title>
<p>You are signed in on this browser for twelve hours. The link cannot be used again. <a href="/">Open Vedette</a></p></html>
`;

export interface SignInOptions {
  /** The random part of the link. */
  readonly token: string;
  readonly madeMs: number;
  readonly sessionCookie: () => string;
  /** Whether browsers reach the server by https. */
  readonly isSecure: boolean;
}

export interface SignInDependencies {
  /** Makes a token of the server's own. */
  mint(content: {
    readonly subject: string;
    readonly tenant: string;
    readonly role: string;
    readonly issuedMs: number;
    readonly lifetimeMs: number;
  }): Promise<string>;
}

/** An answer to the link. */
export interface SignInAnswer {
  readonly headers: HttpHeaders;
  readonly body: string;
}

/** The cookie of a session, which scripts cannot read and other sites do not send; with a life of 0 it goes. */
export function sessionHeaders(name: string, credential: string, isSecure: boolean, lifetimeMs: number = SESSION_MS): HttpHeaders {
  const seconds = Math.max(0, Math.floor(Math.min(lifetimeMs, SESSION_MS) / 1000));
  const cookie = `${name}=${credential}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return [["Set-Cookie", cookie]];
}

/** One link. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #dependencies: SignInDependencies;
  readonly #digest: Uint8Array;
  #isUsed = false;

  constructor(options: SignInOptions, dependencies: SignInDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#digest = credentialDigest(options.token);
  }

  /** Uses the link up; false where the token is another, or the link was used or is too old. */
  take(token: string, nowMs: number): boolean {
    const isGood = !this.#isUsed && nowMs < this.#options.madeMs + LINK_MS_MAX && isNameOf(credentialName(token), this.#digest);
    if (isGood) this.#isUsed = true;
    return isGood;
  }

  /** The session: a cookie for a browser, else the token as JSON. */
  async session(wantsPage: boolean, nowMs: number): Promise<SignInAnswer> {
    const token = await this.#dependencies.mint({
      subject: SUBJECT,
      tenant: DEFAULT_TENANT,
      role: ROLE,
      issuedMs: nowMs,
      lifetimeMs: SESSION_MS,
    });
    const secrecy: HttpHeaders = [["Referrer-Policy", "no-referrer"]];
    if (wantsPage) {
      const cookie = sessionHeaders(this.#options.sessionCookie(), token, this.#options.isSecure);
      return { headers: [["Content-Type", "text/html; charset=utf-8"], ["Refresh", "0; url=/"], ...cookie, ...secrecy], body: PAGE };
    }
    const content = { access_token: token, token_type: "Bearer", expires_in: SESSION_MS / 1000, tenant_id: DEFAULT_TENANT, role: ROLE };
    return { headers: [["Content-Type", "application/json"], ...secrecy], body: JSON.stringify(content) };
  }
}
