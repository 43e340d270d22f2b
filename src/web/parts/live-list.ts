// A list of the API that stays live: rows that are shown change where they stand, new ones wait above until the reader wants them.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Answer, useAnswer } from "../client/answers.ts";
import { type CallKey, type CallOptions, call } from "../client/client.ts";
import { isPaused, listen } from "../live/stream.ts";
import { takeChanges } from "../view/feed.ts";

/** Rows that wait; beyond them only their number is kept. */
const FRESH_MAX = 1000;
/** Rows that are kept: some 1 kB each. */
const ROWS_MAX = 20_000;
/** Events are taken over so often: the reader sees them at once, the machine draws five times a second. */
const DRAW_MS = 100;

export interface LiveListOptions<T> {
  readonly key: CallKey;
  readonly call: CallOptions;
  readonly member: string;
  readonly event: "anomaly" | "alert";
  idOf(row: T): string;
  matches(row: T): boolean;
}

export interface LiveList<T> {
  readonly answer: Answer<{ total: number }>;
  readonly rows: readonly T[];
  readonly total: number;
  readonly fresh: number;
  /** Older rows, at the end of the list. */
  readonly hasMore: boolean;
  readOn(): Promise<void>;
  /** Shows what waits. */
  showFresh(): void;
}

/** Rows that the stream did not send: those that are shown as they are now, and those that have come since. Oldest first, as the stream sends them. */
async function missedRows<T>({ key, call: options, member }: LiveListOptions<T>, since: string): Promise<T[]> {
  const ask = async (query: CallOptions["query"]) => (await call<Record<string, T[]>>(key, { ...options, query }))[member] ?? [];
  const [shown, come] = await Promise.all([ask(options.query), ask({ ...options.query, since, limit: FRESH_MAX })]);
  return [...shown, ...come].reverse();
}

/** The next page. */
async function olderRows<T>({ key, call: options, member }: LiveListOptions<T>, token: string): Promise<{ rows: T[]; token: string }> {
  const query = { ...options.query, page_token: token };
  const next = await call<{ page_token: string } & Record<string, T[]>>(key, { ...options, query });
  return { rows: next[member] ?? [], token: next.page_token };
}

function joinedRows<T>(before: readonly T[], older: readonly T[], idOf: (row: T) => string): readonly T[] {
  const ids = new Set(before.map(idOf));
  return [...before, ...older.filter((row) => !ids.has(idOf(row)))];
}

export function useLiveList<T>(options: LiveListOptions<T>): LiveList<T> {
  const answer = useAnswer<{ total: number; page_token: string } & Record<string, T[]>>(options.key, options.call);
  const [token, setToken] = useState("");
  const [rows, setRows] = useState<readonly T[]>([]);
  const [fresh, setFresh] = useState<readonly T[]>([]);
  const waiting = useRef<T[]>([]);
  const own = useRef(options);
  own.current = options;
  useEffect(() => {
    setRows((answer.data?.[options.member] as T[] | undefined) ?? []);
    setFresh([]);
    setToken(answer.data?.page_token ?? "");
  }, [answer.data]);
  useEffect(() => {
    let timer = 0;
    const draw = () => {
      timer = 0;
      if (isPaused.value) return;
      const { idOf, matches } = own.current;
      const latest = [...new Map(waiting.current.splice(0).map((row) => [idOf(row), row])).values()];
      setRows((before) => {
        const taken = takeChanges(before, latest, idOf);
        const unknown = taken.fresh.filter(matches);
        if (unknown.length > 0) {
          const ids = new Set(unknown.map(idOf));
          setFresh((listed) => [...unknown.reverse(), ...listed.filter((row) => !ids.has(idOf(row)))].slice(0, FRESH_MAX));
        }
        return taken.list;
      });
    };
    const take = (changed: readonly T[]) => {
      waiting.current.push(...changed);
      if (waiting.current.length > FRESH_MAX) waiting.current.splice(0, waiting.current.length - FRESH_MAX);
      if (timer === 0) timer = window.setTimeout(draw, DRAW_MS);
    };
    const stop = listen({
      onEvent(event, data) {
        if (event === own.current.event) take([JSON.parse(data) as T]);
      },
      onGap: (since) => void missedRows(own.current, since).then(take, answer.reload),
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  const showFresh = () => {
    setRows((before) => [...fresh, ...before]);
    setFresh([]);
    scrollTo({ top: 0 });
  };
  // A list that is empty has no reader whose place could move.
  useEffect(() => {
    if (rows.length === 0 && fresh.length > 0 && !answer.isLoading) showFresh();
  }, [fresh]);
  const readOn = async () => {
    const older = await olderRows(options, token);
    setToken(older.token);
    setRows((before) => joinedRows(before, older.rows, options.idOf));
  };
  return {
    hasMore: token !== "" && rows.length < ROWS_MAX,
    readOn,
    answer,
    rows,
    total: (answer.data?.total ?? 0) + fresh.length,
    fresh: fresh.length,
    showFresh,
  };
}
