// Why a request is not done: every error code with its HTTP status, in one place. What a client sees of it is made in error-answer.ts.
// A refusal that is given again and again, written once: a tenant far over its rate is answered thousands of times a second with the same words.

/** Status of each code. Codes of single records are those of core/layout/counters.ts (VALIDATION_REASONS). */
export const ERROR_STATUS = {
  // One record or one parameter.
  invalid_value: 400,
  timestamp_too_old: 400,
  missing_service_id: 400,
  missing_metric_name: 400,
  missing_value: 400,
  missing_body: 400,
  missing_timestamp: 400,
  invalid_timestamp: 400,
  timestamp_in_future: 400,
  invalid_type: 400,
  invalid_attributes: 400,
  invalid_record: 400,
  field_too_long: 400,
  series_limit_exceeded: 400,
  // A whole body.
  invalid_json: 400,
  invalid_protobuf: 400,
  batch_too_large: 400,
  // A query.
  bad_request: 400,
  invalid_parameter: 400,
  unknown_parameter: 400,
  repeated_parameter: 400,
  missing_parameter: 400,
  invalid_limit: 400,
  invalid_page_token: 400,
  // A body with a schema.
  invalid_field: 400,
  unknown_field: 400,
  missing_field: 400,
  // The request as such.
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  unprocessable: 422,
  rate_limit_exceeded: 429,
  headers_too_large: 431,
  internal_error: 500,
  not_implemented: 501,
  not_built: 501,
  overloaded: 503,
  store_unavailable: 503,
} as const;

/** A code that clients may rely on. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** A request that is not done. `message` says what is wrong, what was got and what to do. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** Name of the parameter or field at fault. */
  readonly field?: string;
  /** Place in a batch, from 0. */
  readonly index?: number;
}

/** Result of an operation: a value, with the status to answer where that is not 200, or why there is none. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T; readonly status?: 201 | 202 | 204 }
  | { readonly ok: false; readonly refusal: Refusal };

/** Wraps a value as a good outcome. */
export function done<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

/** Wraps what was made as a good outcome, 201. */
export function created<T>(value: T): Outcome<T> {
  return { ok: true, value, status: 201 };
}

/** A good outcome that says no more, 204. */
export function noContent(): Outcome<null> {
  return { ok: true, value: null, status: 204 };
}

/** Makes a bad outcome. */
export function refused(code: ErrorCode, message: string, field?: string): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: field === undefined ? { code, message } : { code, message, field } };
}

/** Shows what a client sent, short enough to stand in a message. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** A refusal without field and index, whose ordinary body lacks nothing but the request's id. */
export class PreparedRefusal implements Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly #head: string;

  constructor(code: ErrorCode, message: string) {
    this.code = code;
    this.message = message;
    this.#head = `${JSON.stringify({ status: "error", error: code, message }).slice(0, -1)},"request_id":"`;
  }

  /** The body that error-answer.ts writes of such a refusal. `requestId` holds nothing that JSON escapes. */
  body(requestId: string): string {
    return `${this.#head}${requestId}"}`;
  }
}
