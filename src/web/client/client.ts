// Calls to the API. Each is named as the API names it, "GET /api/v1/anomalies/{id}", so that a test can hold the pages against the OpenAPI document.
import { saysEmpty } from "../view/location.ts";

/** A method and a path of the API. */
export type CallKey = `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;

export interface CallOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** A body that is no JSON. */
  readonly text?: { readonly mediaType: string; readonly content: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** For what takes longer than a minute. */
  readonly timeoutMs?: number;
  /** Told while the server asks to wait. */
  readonly onWait?: (seconds: number) => void;
}

/** Why a call has no answer; `status` is 0 where the server was not reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly field: string | null;

  constructor(status: number, code: string, message: string, requestId: string | null = null, field: string | null = null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.field = field;
  }
}

/** Repeats of a call that was refused for want of room. */
const REPEATS_MAX = 3;
const WAIT_SECONDS_MAX = 30;
const TIMEOUT_MS = 60_000;

/** The address of a call, relative to the page. */
export function addressOf(key: CallKey, { path = {}, query = {} }: CallOptions = {}): string {
  const [, template] = splitKey(key);
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && (value !== "" || saysEmpty(name))) parameters.set(name, String(value));
  const text = parameters.toString();
  return `${filled.slice(1)}${text === "" ? "" : `?${text}`}`;
}

function splitKey(key: CallKey): [method: string, template: string] {
  const at = key.indexOf(" ");
  return [key.slice(0, at), key.slice(at + 1)];
}

/** Calls the API; rejects with an ApiError. A server that asks to wait is asked again, a few times. */
export async function call<T>(key: CallKey, options: CallOptions = {}): Promise<T> {
  for (let repeat = 0; ; repeat++) {
    const response = await send(key, options);
    const isBusy = response.status === 429 || response.status === 503;
    const seconds = Math.min(WAIT_SECONDS_MAX, Number(response.headers.get("retry-after") ?? 1) || 1);
    if (!isBusy || repeat === REPEATS_MAX || options.signal?.aborted === true) return read<T>(response);
    options.onWait?.(seconds);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

async function send(key: CallKey, options: CallOptions): Promise<Response> {
  const { body, text, signal } = options;
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  const init: RequestInit = { method: splitKey(key)[0], headers, credentials: "same-origin", cache: "no-store" };
  if (text !== undefined) {
    headers["Content-Type"] = text.mediaType;
    init.body = text.content;
  } else if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), options.timeoutMs ?? TIMEOUT_MS);
  const stop = () => late.abort();
  signal?.addEventListener("abort", stop);
  try {
    return await fetch(addressOf(key, options), { ...init, signal: late.signal });
  } catch {
    if (signal?.aborted === true) throw new ApiError(0, "aborted", "left");
    throw new ApiError(0, "offline", "the server does not answer; it may be restarting, or the network is down");
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

async function read<T>(response: Response): Promise<T> {
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  const value = isJson && text !== "" ? (JSON.parse(text) as unknown) : text;
  if (response.ok) return value as T;
  const { error, errorType, message, request_id, field } = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    string | undefined
  >;
  // Prometheus' envelope has the kind of an error in errorType, and its words in error.
  throw new ApiError(
    response.status,
    errorType ?? error ?? "failed",
    (errorType === undefined ? message : error) ?? `the server answered ${response.status}`,
    request_id ?? null,
    field ?? null,
  );
}

/** Reads all pages of a list, up to `most` rows. */
export async function callPages<R>(
  key: CallKey,
  options: CallOptions,
  member: string,
  most: number,
): Promise<{ rows: R[]; total: number }> {
  const rows: R[] = [];
  for (let page_token = ""; ; ) {
    const answer = await call<Record<string, unknown>>(key, { ...options, query: { ...options.query, limit: 1000, page_token } });
    rows.push(...(answer[member] as R[]));
    page_token = String(answer.page_token ?? "");
    if (page_token === "" || rows.length >= most) return { rows: rows.slice(0, most), total: Number(answer.total ?? rows.length) };
  }
}
