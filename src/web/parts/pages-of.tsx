// A list of the API that comes in pages, read on at its end.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { addressOf, type CallKey, type CallOptions, call } from "../client/client.ts";
import type { Page } from "../view/shapes.ts";
import { Button } from "./basics.tsx";

/** Pages behind the first are longer: who scrolls wants more of them. */
const GROWTH = 3;
const PAGE_ROWS_MAX = 1_000;

/** Rows so far, and what reads on. */
export function usePages<R>(key: CallKey, options: CallOptions, member: string, everyMs = 0) {
  const [more, setMore] = useState<{ readonly rows: readonly R[]; readonly token: string }>({ rows: [], token: "" });
  // Whoever has read on keeps what was read.
  const answer = useAnswer<Page & Record<string, R[]>>(key, options, more.rows.length > 0 ? 0 : everyMs);
  const address = addressOf(key, options);
  useEffect(() => setMore({ rows: [], token: answer.data?.page_token ?? "" }), [answer.data, address]);
  const readOn = async () => {
    const { limit } = options.query ?? {};
    const query = { ...options.query, ...(typeof limit === "number" && { limit: Math.min(PAGE_ROWS_MAX, limit * GROWTH) }) };
    const next = await call<Page & Record<string, R[]>>(key, { ...options, query: { ...query, page_token: more.token } });
    setMore({ rows: [...more.rows, ...(next[member] as R[])], token: next.page_token });
  };
  return {
    answer,
    rows: [...(answer.data?.[member] ?? []), ...more.rows],
    total: answer.data?.total ?? 0,
    hasMore: more.token !== "",
    readOn,
  };
}

export function MoreRows({
  of,
  noun,
}: {
  of: { rows: readonly unknown[]; total: number; hasMore: boolean; readOn(): Promise<void> };
  noun: string;
}) {
  if (of.total === 0) return null;
  return (
    <p class="faint row">
      {of.rows.length} of {of.total} {noun}
      {of.hasMore && <Button onClick={of.readOn}>Show more</Button>}
    </p>
  );
}
