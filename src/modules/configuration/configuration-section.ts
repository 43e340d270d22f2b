// A kind of setting as a section of the configuration's document, and what all kinds need: the rows of a list, a body that is checked and written by its own endpoint's handler.

import { bodySteps, parseBody } from "../../api/body-parsing.ts";
import type { BodyOf, CoordinatorEndpoint } from "../../api/endpoints.ts";
import { parseQuery } from "../../api/query-parsing.ts";
import type { Outcome } from "../../api/refusal.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { PAGE_ROWS_MAX } from "../../core/config/limits.ts";
import type { ChangingAlone } from "../access/changes.ts";
import type { LabelsContext } from "../labels/labels-context.ts";
import type { NotificationContext } from "../notification/notification-context.ts";
import type { PageReportContext } from "../notification/page-report-handlers.ts";
import type { PillarsContext } from "../pillars/service-map-handlers.ts";
import type { ChangeRequest, QueryHandler, QueryRequest } from "../queries/query-context.ts";
import type { RulesContext } from "../rules/rules-context.ts";
import type { RunbooksContext } from "../runbooks/runbooks-context.ts";
import type { SaturationContext } from "../saturation/saturation-context.ts";
import type { SilencesContext } from "../silences/silences-context.ts";
import type { WatchdogContext } from "../watchdog/watchdog-context.ts";
import type { WebhooksContext } from "../webhooks/webhooks-context.ts";

/** One setting as it stands in a file. */
export type ConfigurationEntry = Readonly<Record<string, unknown>>;

/** The reading of an entry, in steps: it may be as long as a body. */
export type EntrySteps = Generator<void, Outcome<ConfigurationEntry>>;

/** One kind of setting. */
export interface ConfigurationSection {
  readonly name: string;
  /** All that there are, as a file has them. */
  list(context: ConfigurationContext, request: ChangeRequest): Promise<ConfigurationEntry[]>;
  /** Identity of an entry: it tells two of them apart. */
  key(entry: ConfigurationEntry): string;
  /** As it will be stored: defaults filled in; yields between steps. */
  parse(entry: ConfigurationEntry): EntrySteps;
  /** The same for what only a query worker can read; then `parse` is asked for what is there alone, and `write` is given what was read. */
  read?(context: ConfigurationContext, request: ChangeRequest, entry: ConfigurationEntry): Promise<Outcome<ConfigurationEntry>>;
  /** Deletes one that is there, with a row of the audit log; absent where nothing of the kind can be deleted. */
  remove?(context: ConfigurationContext, request: ChangeRequest, entry: ConfigurationEntry): Promise<Outcome<unknown>>;
  /** Whether one that is there stays whatever a document says. */
  stays?(entry: ConfigurationEntry): boolean;
  /** Writes one, with a row of the audit log. */
  write?(context: ConfigurationContext, request: ChangeRequest, entry: ConfigurationEntry, isThere: boolean): Promise<Outcome<unknown>>;
  /** Writes some of different keys in one transaction, with rows of the audit log; an outcome of each. Then `write` is not asked. */
  writeSome?(
    context: ConfigurationContext,
    request: ChangeRequest,
    entries: readonly ConfigurationEntry[],
  ): Promise<Array<Outcome<unknown>>>;
  /** Writes all that differ at once, where they are stored as one; then `write` is not asked. */
  writeAll?(context: ConfigurationContext, request: ChangeRequest, entries: readonly ConfigurationEntry[]): Promise<Outcome<unknown>>;
  /** Why one that is not there cannot be made of what a file holds; undefined where it can. */
  incomplete?(entry: ConfigurationEntry): string | undefined;
}

/** All rows that an endpoint lists, page by page. */
export async function readAll<N extends CoordinatorEndpoint>(
  [endpoint, handler, member]: readonly [endpoint: N, handler: QueryHandler<N, ConfigurationContext>, member: string],
  context: ConfigurationContext,
  request: ChangeRequest,
): Promise<ConfigurationEntry[]> {
  const rows: ConfigurationEntry[] = [];
  for (let token = ""; ; ) {
    await context.pause();
    const query = parseQuery(endpoint, { limit: String(PAGE_ROWS_MAX), ...(token !== "" && { page_token: token }) });
    if (!query.ok) throw new Error(`${endpoint} does not take its own query: ${query.refusal.message}`);
    const page = await handler(context, { ...whole(request), query: query.value } as unknown as QueryRequest<N>);
    if (!page.ok) throw new Error(`${endpoint} does not list: ${page.refusal.message}`);
    const value = page.value as Readonly<Record<string, unknown>>;
    rows.push(...(ownMember(value, member) as ConfigurationEntry[]));
    token = String(value.page_token ?? "");
    if (token === "") return rows;
    await context.yieldToLoop();
  }
}

function whole({ principal, requestId, address }: ChangeRequest) {
  return { principal, requestId, address, path: {}, query: {}, body: null, mediaType: null, ifMatch: null, shares: [] };
}

/** Asks the handler of an endpoint for what it does with a path, a query or a text. */
export function askHandler<N extends CoordinatorEndpoint>(
  [, handler]: readonly [endpoint: N, handler: QueryHandler<N, ConfigurationContext>],
  context: ConfigurationContext,
  request: ChangeRequest,
  asked: { readonly path?: unknown; readonly query?: unknown; readonly body?: unknown },
): Promise<Outcome<unknown>> {
  return Promise.resolve(handler(context, { ...whole(request), ...asked } as unknown as QueryRequest<N>));
}

/** Writes one as the endpoint of its kind would, body checked. */
export async function writeBody<N extends CoordinatorEndpoint>(
  [endpoint, handler]: readonly [endpoint: N, handler: QueryHandler<N, ConfigurationContext>],
  context: ConfigurationContext,
  request: ChangeRequest,
  { body, path = {} }: { readonly body: unknown; readonly path?: Readonly<Record<string, string>> },
): Promise<Outcome<unknown>> {
  const parsed = parseBody(endpoint, JSON.stringify(body));
  if (!parsed.ok) return parsed;
  return handler(context, { ...whole(request), path, body: parsed.value as BodyOf<N> } as unknown as QueryRequest<N>);
}

/** Writes some in one transaction, as the endpoint of their kind takes each. */
export async function writeBodies<N extends CoordinatorEndpoint>(
  endpoint: N,
  write: (bodies: Array<BodyOf<N>>) => Promise<Array<Outcome<unknown>>>,
  entries: readonly ConfigurationEntry[],
): Promise<Array<Outcome<unknown>>> {
  const parsed = entries.map((entry) => parseBody(endpoint, JSON.stringify(entry)));
  const written = await write(parsed.flatMap((body) => (body.ok ? body.value : [])) as Array<BodyOf<N>>);
  return parsed.map((body) => (body.ok ? (written.shift() as Outcome<unknown>) : body));
}

/** Reads an entry as the body of an endpoint. */
export function parsedBy(endpoint: CoordinatorEndpoint) {
  return (entry: ConfigurationEntry) => bodySteps(endpoint, JSON.stringify(entry)) as EntrySteps;
}

/** Members of a row, those that a write takes. */
export function only(row: ConfigurationEntry, names: readonly string[]): ConfigurationEntry {
  return Object.fromEntries(names.filter((name) => ownMember(row, name) !== undefined).map((name) => [name, ownMember(row, name)]));
}

/** A row without members, nor those that are null. */
export function without(row: ConfigurationEntry, names: readonly string[]): ConfigurationEntry {
  return Object.fromEntries(Object.entries(row).filter(([name, value]) => !names.includes(name) && value !== null));
}

/** Identity of entries, by members. */
export const keyOf =
  (...names: readonly string[]) =>
  (entry: ConfigurationEntry) =>
    JSON.stringify(names.map((name) => ownMember(entry, name) ?? null));

// What export and import of a configuration use: what the handlers of all its kinds do.

export type ConfigurationContext = ChangingAlone &
  LabelsContext &
  NotificationContext &
  PageReportContext &
  PillarsContext &
  RulesContext &
  RunbooksContext &
  SaturationContext &
  SilencesContext &
  WatchdogContext &
  WebhooksContext;
