// What a request presents as its credential: at most one, in a header. Which of them are genuine is not decided here.

/** A credential as sent, none, or why what was sent is not taken for one. */
export type PresentedCredential =
  | { readonly kind: "none" }
  /** `isSession`: it came as a cookie, which browsers send by themselves. */
  | { readonly kind: "token"; readonly text: string; readonly isSession: boolean }
  | { readonly kind: "unusable"; readonly message: string };

/** The headers that may carry one; undefined = absent. */
export interface CredentialHeaders {
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
  /** The session of the browser that signed in by the link; asked for only where neither of the others is there. */
  readonly session: string | undefined;
  /**
   * Whether a password in Authorization: Basic is taken for a credential. A browser that was given one sends it by itself, also for pages of others: not where
   * something can be changed.
   */
  readonly takesPassword?: boolean;
}

/** Longest credential: tokens with many claims have some 2 KiB. */
const CREDENTIAL_LENGTH_MAX = 8 * 1024;

const BEARER = /^Bearer +([!-~]+) *$/i;
const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i;
const NONE: PresentedCredential = { kind: "none" };
/** Names under which clients put credentials into a URL. Compared decoded and in lower case. */
const URL_NAMES: ReadonlySet<string> = new Set([
  "api_key",
  "apikey",
  "api-key",
  "x-api-key",
  "access_token",
  "token",
  "jwt",
  "authorization",
]);

/** Reads the credential of a request. */
export function presentedCredential(headers: CredentialHeaders): PresentedCredential {
  const { apiKey } = headers;
  const authorization = headers.takesPassword === true ? withoutUser(headers.authorization) : headers.authorization;
  if (authorization === undefined && apiKey === undefined) {
    const { session } = headers;
    return session === undefined ? NONE : token(session, true);
  }
  if (apiKey === undefined) return bearer(authorization as string);
  if (authorization === undefined) return token(apiKey, false);
  return unusable("both Authorization and X-API-Key came with this request; send one of them");
}

/** The password of a Basic credential as a bearer's; anything else as it is. Whatever name stands beside it says nothing. */
function withoutUser(authorization: string | undefined): string | undefined {
  const encoded = BASIC.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return authorization;
  const decoded = Buffer.from(encoded, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  return colon < 0 ? authorization : `Bearer ${decoded.slice(colon + 1)}`;
}

function bearer(authorization: string): PresentedCredential {
  const text = BEARER.exec(authorization)?.[1];
  return text === undefined ? unusable("Authorization must be Bearer with one token or API key behind it") : token(text, false);
}

function token(text: string, isSession: boolean): PresentedCredential {
  if (text === "") return unusable("the credential is empty; send a token or an API key, or leave the header out");
  if (text.length > CREDENTIAL_LENGTH_MAX) {
    return unusable(`a credential has at most ${CREDENTIAL_LENGTH_MAX} characters, got ${text.length}`);
  }
  return { kind: "token", text, isSession };
}

function unusable(message: string): PresentedCredential {
  return { kind: "unusable", message };
}

/** The name of a parameter that carries a credential in a query, undefined where there is none. URLs end up in logs, histories and Referer headers. */
export function credentialInQuery(query: string): string | undefined {
  if (query === "") return undefined;
  for (const part of query.split("&")) {
    const name = decoded(part.split("=", 1)[0] as string);
    if (URL_NAMES.has(name.toLowerCase())) return name;
  }
  return undefined;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}
