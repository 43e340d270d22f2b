// Answers of Prometheus' HTTP API (web/api/v1/api.go): its envelope, its kinds of errors and their status codes.

/** Kinds of errors, with their status codes. */
export const PROMETHEUS_STATUS = {
  bad_data: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  execution: 422,
  too_many_requests: 429,
  internal: 500,
  canceled: 503,
  timeout: 503,
  unavailable: 503,
} as const;

/** A kind of error that clients may rely on. */
export type PrometheusErrorType = keyof typeof PROMETHEUS_STATUS;

/** A request that is not done, in Prometheus' words. */
export class PrometheusError extends Error {
  override readonly name = "PrometheusError";
  readonly errorType: PrometheusErrorType;

  constructor(errorType: PrometheusErrorType, message: string) {
    super(message);
    this.errorType = errorType;
  }
}

/** The body of an answer that is an error. */
export function prometheusErrorBody(errorType: PrometheusErrorType, error: string): string {
  return JSON.stringify({ status: "error", errorType, error });
}

/** What is told beside a result. */
export interface Remarks {
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
}

/** The members of an answer behind its data. */
export function remarksText({ warnings, infos }: Remarks): string {
  const warned = warnings.length === 0 ? "" : `,"warnings":${JSON.stringify(warnings)}`;
  return infos.length === 0 ? warned : `${warned},"infos":${JSON.stringify(infos)}`;
}

/** Whether a path is of Prometheus' API, whose errors have this envelope. */
export function isPrometheusPath(path: string): boolean {
  return path === PREFIX || path.startsWith(`${PREFIX}/`);
}

const PREFIX = "/prometheus";

/** The kind of error that a status of ours is there. */
export function errorTypeOf(status: number): PrometheusErrorType {
  if (status === 422) return "execution";
  if (status === 503) return "unavailable";
  if (status >= 500) return "internal";
  const known = Object.entries(PROMETHEUS_STATUS).find(([, code]) => code === status);
  return known === undefined ? "bad_data" : (known[0] as PrometheusErrorType);
}
