/**
 * Page tokens: where the next page of a list begins, sealed so that a client can neither read meaning into one nor carry it elsewhere.
 *
 *   token = base64url(JSON [1, position]) "." base64url(first 16 bytes of HMAC-SHA256(secret, scope JSON 0x0a payload))
 *
 * The scope (tenant, endpoint, filters) is not in the token but in the seal: a token given with other filters does not open. `limit` is no
 * filter, it may change from page to page. A position names the last row given, so rows that arrive meanwhile move nothing.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { done, type Outcome, refused } from "./refusal.ts";

/** Query that a token is bound to. Filters are compared as JSON, with their names sorted. */
export interface PageScope {
  readonly tenant: string;
  readonly endpoint: string;
  readonly filters: Readonly<Record<string, unknown>>;
}

/** Parts of a position. */
export type PagePosition = ReadonlyArray<string | number | boolean>;

/** Bytes of the key that seals tokens. */
export const PAGE_SECRET_BYTES = 32;

const VERSION = 1;
const SEAL_BYTES = 16;
const TOKEN_LENGTH_MAX = 32 * 1024;

/** Makes the token of the page behind `position`. */
export function issuePageToken(secret: Uint8Array, scope: PageScope, position: PagePosition): string {
  const payload = Buffer.from(JSON.stringify([VERSION, position])).toString("base64url");
  return `${payload}.${seal(secret, scope, payload).toString("base64url")}`;
}

/** A request for a list; what its query has besides are filters. */
export interface ListRequest {
  readonly principal: { readonly tenant: string };
  readonly query: { readonly limit: number; readonly page_token: string };
}

/** A page that was asked for, of a list of one endpoint with its filters. */
export class ListPage {
  /** Position of the last row of the page before; undefined on the first page. */
  readonly after: PagePosition | undefined;
  readonly #secret: Uint8Array;
  readonly #scope: PageScope;
  readonly #limit: number;

  constructor(secret: Uint8Array, scope: PageScope, limit: number, after: PagePosition | undefined) {
    this.after = after;
    this.#secret = secret;
    this.#scope = scope;
    this.#limit = limit;
  }

  /** Returns the page of rows that are those behind `after`, in list order, with one more than the page where there is one. */
  cut<T>(rows: readonly T[], positionOf: (last: T) => PagePosition): { readonly page: readonly T[]; readonly page_token: string } {
    const page = rows.slice(0, this.#limit);
    return { page, page_token: this.tokenOf(rows.length > this.#limit ? positionOf(page.at(-1) as T) : undefined) };
  }

  /** Returns the token of the page behind a position; empty where there is none. */
  tokenOf(position: PagePosition | undefined): string {
    return position === undefined ? "" : issuePageToken(this.#secret, this.#scope, position);
  }
}

/** Opens the page that a request asks for; refused where its token is not of this list. `filters` are what the query has besides, where they are not given. */
export function openPage(
  { pageSecret }: { readonly pageSecret: Uint8Array },
  { principal, query: { limit, page_token, ...filters } }: ListRequest,
  endpoint: string,
  bound: PageScope["filters"] = filters,
): Outcome<ListPage> {
  const scope: PageScope = { tenant: principal.tenant, endpoint, filters: bound };
  const after = readPageToken(pageSecret, scope, page_token);
  return after.ok ? done(new ListPage(pageSecret, scope, limit, after.value)) : after;
}

/** A list that is held whole, and the order of its rows: the parts of a row's position, of which the first falls where `newestFirst`, and all others rise. */
export interface WholeList<Row> {
  readonly endpoint: string;
  readonly filters?: PageScope["filters"];
  readonly newestFirst?: boolean;
  positionOf(row: Row): PagePosition;
}

/** Answers with a page of a list that is held whole, `rows` in their order, as `view` shows it. */
export function listed<Row>(
  state: { readonly pageSecret: Uint8Array },
  request: ListRequest,
  { endpoint, filters, newestFirst = false, positionOf }: WholeList<Row>,
  rows: readonly Row[],
  view: (page: readonly Row[]) => object,
): Outcome<unknown> {
  const asked = openPage(state, request, endpoint, filters);
  if (!asked.ok) return asked;
  const { after } = asked.value;
  const rest = after === undefined ? rows : rows.filter((row) => isBehind(positionOf(row), after, newestFirst));
  const { page, page_token } = asked.value.cut(rest, positionOf);
  return done({ ...view(page), page_token });
}

/** Returns whether a position comes later in the list than another. */
function isBehind(position: PagePosition, after: PagePosition, newestFirst: boolean): boolean {
  const index = position.findIndex((part, at) => part !== after[at]);
  if (index < 0) return false;
  const rises = (position[index] as string) > (after[index] as string);
  return newestFirst && index === 0 ? !rises : rises;
}

/** Opens a token: the position, undefined for the empty token (the first page), or a refusal. */
export function readPageToken(secret: Uint8Array, scope: PageScope, token: string): Outcome<PagePosition | undefined> {
  if (token === "") return done(undefined);
  const [payload = "", input = ""] = token.split(".", 2);
  const expected = seal(secret, scope, payload);
  const actual = Buffer.from(input, "base64url");
  const genuine = token.length <= TOKEN_LENGTH_MAX && actual.length === expected.length && timingSafeEqual(actual, expected);
  if (!genuine || `${payload}.${expected.toString("base64url")}` !== token) return refusedToken();
  const [version, position] = JSON.parse(Buffer.from(payload, "base64url").toString()) as [number, PagePosition];
  return version === VERSION ? done(position) : refusedToken();
}

function refusedToken() {
  const message =
    "page_token was not given for this query; use it with the same filters as the page it came from, or leave it out to begin anew";
  return refused("invalid_page_token", message, "page_token");
}

function seal(secret: Uint8Array, scope: PageScope, payload: string): Buffer {
  const filters = Object.entries(scope.filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const bound = JSON.stringify([scope.tenant, scope.endpoint, filters]);
  return createHmac("sha256", secret).update(bound).update("\n").update(payload).digest().subarray(0, SEAL_BYTES);
}
