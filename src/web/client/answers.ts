// Answers of the API in a page: asked when the page opens, again when something changed, kept with their age while the server is away.
import { signal } from "@preact/signals";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { wallMs } from "../state/clock.ts";
import { ApiError, addressOf, type CallKey, type CallOptions, call } from "./client.ts";

/** Known state of an answer. */
export interface Answer<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** When `data` came. */
  readonly atMs: number;
  readonly waitSeconds: number;
  reload(): void;
}

interface AnswerState<T> {
  readonly address: string;
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly atMs: number;
  readonly waitSeconds: number;
}

/** Counts what people change here: answers are asked again. */
const changes = signal(0);
/** True once a call was told that the session counts no more, until somebody signs in. */
export const isSignedOut = signal(false);
const AGAIN_MS = 5_000;

/** Calls that changed something bring every open answer up to date. */
export function noteChange(): void {
  changes.value++;
}

/** Whether an answer is what the server says now: one that cannot be read, or not any more, says nothing about what fires. */
export function isRead({ data, error }: Pick<Answer<unknown>, "data" | "error">): boolean {
  return data !== undefined && error === undefined && !isSignedOut.value;
}

/** The answer to a call; null asks nothing. `everyMs` asks again. */
export function useAnswer<T>(key: CallKey | null, options: CallOptions = {}, everyMs = 0): Answer<T> {
  const address = key === null ? "" : addressOf(key, options);
  const [state, setState] = useState<AnswerState<T>>({
    address,
    data: undefined,
    error: undefined,
    isLoading: key !== null,
    atMs: 0,
    waitSeconds: 0,
  });
  const [version, setVersion] = useState(0);
  const latest = useRef(0);
  const reload = useCallback(() => setVersion((count) => count + 1), []);
  const changed = changes.value;
  useEffect(() => {
    if (key === null) return;
    const own = ++latest.current;
    const control = new AbortController();
    const isCurrent = () => own === latest.current;
    setState((before) => ({
      ...before,
      address,
      isLoading: true,
      data: before.address === address ? before.data : undefined,
      error: undefined,
    }));
    const onWait = (waitSeconds: number) => isCurrent() && setState((before) => ({ ...before, waitSeconds }));
    call<T>(key, { ...options, signal: control.signal, onWait }).then(
      (data) => {
        if (isCurrent()) setState({ address, data, error: undefined, isLoading: false, atMs: wallMs(), waitSeconds: 0 });
      },
      (error: unknown) => {
        const known = error instanceof ApiError ? error : new ApiError(0, "failed", String(error));
        if (!isCurrent() || known.code === "aborted") return;
        if (known.status === 401) isSignedOut.value = true;
        setState((before) => ({ ...before, error: known, isLoading: false, waitSeconds: 0 }));
      },
    );
    return () => control.abort();
    // The address says all of the call that can change.
  }, [address, version, changed]);
  const isOffline = state.error?.status === 0 || state.error?.status === 503;
  const againMs = isOffline ? AGAIN_MS : everyMs;
  useEffect(() => {
    if (againMs === 0 || key === null) return;
    const timer = setInterval(() => document.hidden || reload(), againMs);
    return () => clearInterval(timer);
  }, [againMs, address]);
  const isOther = state.address !== address;
  return { ...state, data: isOther ? undefined : state.data, isLoading: state.isLoading || isOther, reload };
}
