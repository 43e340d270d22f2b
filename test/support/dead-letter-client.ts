// Dead letters of a running server, as a test makes and asks for them.
import { expect } from "vitest";
import { PATIENCE_MS } from "./patience.ts";
import type { ServerClient } from "./server-client.ts";
import { until } from "./until.ts";

/** What a test reads of a replay. */
export interface ReplayView {
  readonly job_id: string;
  readonly state: string;
  readonly progress: number;
  readonly replayed: number;
  readonly failed: number;
  readonly already_replayed: number;
}

/** An entry of GET /api/v1/dlq. */
export interface DeadLetterEntry {
  readonly dlq_id: string;
  readonly reason: string;
  readonly payload: Record<string, unknown>;
}

/** All letters that a query selects, page by page. */
export async function readDeadLetters(client: ServerClient, query = ""): Promise<DeadLetterEntry[]> {
  const letters: DeadLetterEntry[] = [];
  for (let token = ""; ; ) {
    const { text } = await client.get(`/api/v1/dlq?limit=1000${query}${token === "" ? "" : `&page_token=${encodeURIComponent(token)}`}`);
    const page = JSON.parse(text) as { entries: DeadLetterEntry[]; page_token: string };
    letters.push(...page.entries);
    token = page.page_token;
    if (token === "") return letters;
  }
}

/** Asks for a replay; returns its id. */
export async function beginReplay(client: ServerClient, content: unknown): Promise<string> {
  const answer = await client.postJson("/api/v1/dlq/replay", content);
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return (answer.json() as ReplayView).job_id;
}

/** The replay once it is done. */
export async function finishedReplay(client: ServerClient, id: string): Promise<ReplayView> {
  const job = async () => (await client.get(`/api/v1/dlq/replay/${id}`)).json() as ReplayView;
  return until("the replay is done", job, ({ state }) => state === "done", { patienceMs: PATIENCE_MS });
}
