/**
 * GET /api/v1/dlq, newest first, and GET, PUT and DELETE /api/v1/dlq/{id}.
 *
 * A page looks at RECORDS_SCANNED_MAX letters at most, as a page of records does: it may then be shorter than `limit`, and its token goes on. `total`
 * is counted once, for the first page; `total_relation` is "gte" where the bound ended the count.
 */

import type { StoreEntry } from "../../adapters/storage/key-value-store.ts";
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { RECORDS_SCANNED_MAX } from "../../core/config/limits.ts";
import type { DeadLetterEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { Principal } from "../../core/protocol/query.ts";
import { reaches } from "../../domain/access/roles.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { timeRange } from "../queries/time-range.ts";
import { ROWS_PER_READ } from "../state/scan.ts";
import { tenantTimeBound, tenantTimeKey } from "../state/tables.ts";
import { DeadLetterDraft } from "./dead-letter-draft.ts";
import {
  type DeadLetterKey,
  deadLetterKey,
  decodeKey,
  fateOf,
  readDeadLetter,
  selects,
  WEBHOOK_EXHAUSTED,
} from "./dead-letter-selection.ts";
import { deadLetterView, problemView } from "./dead-letter-view.ts";
import type { DeadLettersContext } from "./dead-letters-context.ts";
import type { DeadLetterSelection } from "./replay-book.ts";

interface ListTotal {
  readonly total: number;
  readonly isExact: boolean;
}

interface Scan {
  readonly letters: readonly DeadLetterEnvelope[];
  readonly matches: number;
  /** Where the bound, or a full page that is not the first, ended it. */
  readonly endedAt: DeadLetterKey | undefined;
}

/** A page of letters. */
export async function listDeadLetters(context: DeadLettersContext, request: QueryRequest<"deadLetters">): Promise<Outcome<unknown>> {
  const { principal, query } = request;
  const { limit } = query;
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const asked = openPage(context.state, request, "dlq");
  if (!asked.ok) return asked;
  const { after } = asked.value;
  const before = after && { receivedMs: after[0] as number, id: after[1] as string };
  const selection = selectionOf({ ...query, ...range.value });
  const scanned = await scan(context, principal, selection, before, limit + 1);
  const page = scanned.letters.slice(0, limit);
  const total = after === undefined ? firstTotal(context, principal, query, scanned) : totalOf(after);
  const next = scanned.letters.length > limit ? page.at(-1) : scanned.endedAt;
  const position = next && [next.receivedMs, next.id, total.total, total.isExact];
  return done({
    entries: page.map(deadLetterView),
    total: total.total,
    total_relation: total.isExact ? "eq" : "gte",
    page_token: asked.value.tokenOf(position),
  });
}

function selectionOf(query: {
  readonly reason?: string | undefined;
  readonly topic?: string | undefined;
  readonly service_id?: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}): DeadLetterSelection {
  const { reason, topic, service_id, fromMs, toMs } = query;
  return {
    ...(reason !== undefined && { reason }),
    ...(topic !== undefined && { topic }),
    ...(service_id !== undefined && { serviceId: service_id }),
    fromMs,
    toMs,
  };
}

function totalOf(position: readonly unknown[]): ListTotal {
  return { total: position[2] as number, isExact: position[3] as boolean };
}

/** Without a filter the count is known whatever was scanned. */
function firstTotal(
  context: DeadLettersContext,
  principal: Principal,
  query: QueryRequest<"deadLetters">["query"],
  scanned: Scan,
): ListTotal {
  const isFiltered = [query.reason, query.topic, query.service_id, query.since, query.until].some((filter) => filter !== undefined);
  const isAll = !isFiltered && mayRead(principal, WEBHOOK_EXHAUSTED);
  if (isAll) return { total: context.state.deadLetters.counts(principal.tenant).total, isExact: true };
  return { total: scanned.matches, isExact: scanned.endedAt === undefined };
}

/** Letters of webhooks are for those who may read webhooks. */
function mayRead({ role }: Principal, reason: string): boolean {
  return reason !== WEBHOOK_EXHAUSTED || reaches(role, "admin");
}

async function scan(
  context: DeadLettersContext,
  principal: Principal,
  selection: DeadLetterSelection,
  before: DeadLetterKey | undefined,
  limit: number,
): Promise<Scan> {
  const { tenant } = principal;
  const letters: DeadLetterEnvelope[] = [];
  const from = tenantTimeBound(tenant, selection.fromMs ?? Number.NEGATIVE_INFINITY);
  let to = tenantTimeBound(tenant, selection.toMs ?? Number.POSITIVE_INFINITY);
  if (before !== undefined) to = tenantTimeKey(tenant, before.receivedMs, before.id);
  let matches = 0;
  let last: DeadLetterKey | undefined;
  for (let scanned = 0; scanned < RECORDS_SCANNED_MAX; ) {
    const entries = context.state.control.range("dead_letters", { from, to, reverse: true, limit: ROWS_PER_READ });
    for (const entry of entries) {
      const letter = readDeadLetter(entry);
      if (!selects(selection, letter) || !mayRead(principal, letter.reason)) continue;
      matches++;
      if (letters.length < limit) letters.push(letter);
    }
    const end = entries.at(-1);
    if (end === undefined || entries.length < ROWS_PER_READ) return { letters, matches, endedAt: undefined };
    scanned += entries.length;
    last = decodeKey(end.key);
    to = end.key;
    if (before !== undefined && letters.length >= limit) return { letters, matches, endedAt: last };
    await context.yieldToLoop();
  }
  return { letters, matches, endedAt: last };
}

/** One letter, and what is wrong with its record as it stands. */
export function oneDeadLetter({ state, nowMs }: DeadLettersContext, { principal, path }: QueryRequest<"deadLetter">): Outcome<unknown> {
  const entry = findEntry(state.control, principal, path.id ?? "");
  return entry === undefined ? absent(path.id ?? "") : done(judgedView(readDeadLetter(entry), nowMs()));
}

/** Puts another payload in the place of the one that came: {"payload": record}, or the record itself. */
export async function correctDeadLetter(
  { state, options, nowMs, edit }: DeadLettersContext,
  { principal, path, body }: QueryRequest<"correctDeadLetter">,
): Promise<Outcome<unknown>> {
  const payload = options.exclusions.strip("payload" in body && !("service_id" in body) ? body.payload : body);
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    return refused("invalid_record", "payload must be a telemetry record, a JSON object with service_id, timestamp and so on", "payload");
  }
  return edit(async () => {
    const entry = findEntry(state.control, principal, path.id ?? "");
    if (entry === undefined) return absent(path.id ?? "");
    const letter: DeadLetterEnvelope = { ...readDeadLetter(entry), payload, correctedMs: nowMs() };
    const draft = new DeadLetterDraft(state);
    draft.replace(entry, letter);
    await state.control.commit(draft.operations());
    draft.apply();
    return done(judgedView(letter, nowMs()));
  });
}

/** Deletes a letter for good. */
export async function deleteDeadLetter(
  { state, edit }: DeadLettersContext,
  { principal, path }: QueryRequest<"deleteDeadLetter">,
): Promise<Outcome<unknown>> {
  return edit(async () => {
    const entry = findEntry(state.control, principal, path.id ?? "");
    if (entry === undefined) return absent(path.id ?? "");
    const draft = new DeadLetterDraft(state);
    draft.delete(entry);
    await state.control.commit(draft.operations());
    draft.apply();
    return { ok: true, value: null, status: 204 };
  });
}

function findEntry(store: DeadLettersContext["state"]["control"], principal: Principal, id: string): StoreEntry | undefined {
  const key = deadLetterKey(principal.tenant, id);
  const value = key && store.get("dead_letters", key);
  const entry = key !== undefined && value !== undefined ? { key, value } : undefined;
  return entry !== undefined && mayRead(principal, readDeadLetter(entry).reason) ? entry : undefined;
}

function absent(id: string) {
  return refused("not_found", `no dead letter has the id ${shown(id)}; it was replayed or deleted, is past its time, or never was`);
}

function judgedView(letter: DeadLetterEnvelope, nowMs: number) {
  const fate = fateOf(letter, nowMs);
  const problem = fate.outcome === "refused" ? fate.refusal : undefined;
  return { ...deadLetterView(letter), replayable: problem === undefined, problem: problemView(problem) };
}
