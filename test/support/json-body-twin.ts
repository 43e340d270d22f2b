// What a JSON body must become, by the slow way alone: JSON.parse (with the words of Python's json module read as text) and judgeRecord. The twin of
// actors/engine/json/json-decoder.ts, whatever that decodes with.
import { isUtf8 } from "node:buffer";
import { BATCH_RECORDS_MAX, JSON_DEPTH_MAX } from "../../src/core/config/limits.ts";
import { decodeJson, holdsHalfCharacter } from "../../src/domain/codec/json-body.ts";
import { flagsOfRecord } from "../../src/domain/series/classification.ts";
import { identityText, nameOfRecord } from "../../src/domain/series/stream-identity.ts";
import { isRefusal, judgeRecord, type TelemetryRecord } from "../../src/domain/series/telemetry-record.ts";

export interface ExpectedRow {
  /** Canonical identity and flags. */
  readonly stream: string;
  readonly timeMs: number;
  readonly value: number;
}

export interface ExpectedFailure {
  readonly index: number;
  readonly reason: string;
  readonly field: string | null;
}

/** `code` where the whole body is refused. */
export interface ExpectedBody {
  readonly code?: string;
  readonly records: number;
  readonly rows: readonly ExpectedRow[];
  /** Records that are stored as such, in order. */
  readonly kept: readonly TelemetryRecord[];
  readonly failures: readonly ExpectedFailure[];
}

const refused = (code: string): ExpectedBody => ({ code, records: 0, rows: [], kept: [], failures: [] });

/** Judges a body of one tenant, received at `wallMs`. Identities must be shorter than their limit. */
export function expectedOfJson(bytes: Uint8Array, isBatch: boolean, tenant: string, wallMs: number): ExpectedBody {
  if (bytes.length === 0 || !isUtf8(bytes)) return refused("invalid_json");
  const text = Buffer.from(bytes).toString("utf8");
  if (depthOf(text) > JSON_DEPTH_MAX) return refused("invalid_json");
  const decoded = decodeJson(text);
  if (!decoded.ok || Array.isArray(decoded.value) !== isBatch) return refused("invalid_json");
  const values = isBatch ? (decoded.value as unknown[]) : [decoded.value];
  if (values.length > BATCH_RECORDS_MAX) return refused("batch_too_large");
  const rows: ExpectedRow[] = [];
  const kept: TelemetryRecord[] = [];
  const failures: ExpectedFailure[] = [];
  for (const [index, value] of values.entries()) {
    const judged = holdsHalfCharacter(value) ? ({ reason: "invalid_record", field: null } as const) : judgeRecord(value, wallMs);
    if (!("serviceId" in judged) || isRefusal(judged)) {
      failures.push({ index, reason: judged.reason, field: judged.field });
      continue;
    }
    if (["metric", "trace", "profile"].includes(judged.type)) rows.push(rowOf(judged, tenant));
    if (judged.type !== "metric") kept.push(judged);
  }
  return { records: values.length, rows, kept, failures };
}

function rowOf(record: TelemetryRecord, tenant: string): ExpectedRow {
  const { serviceId, metricName, attributes, timeMs, value } = record;
  const flags = flagsOfRecord(record.type, metricName, attributes);
  return { stream: streamOf(identityText(nameOfRecord(tenant, serviceId, metricName, attributes)), flags), timeMs, value };
}

/** A stream's name among expected rows. */
export function streamOf(identity: string, flags: number): string {
  return `${flags} ${identity}`;
}

/** The most brackets that are open at once, strings apart, followed one character after another. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === "\\" && inString) at++;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === "[" || character === "{") deepest = Math.max(deepest, ++depth);
    else if (character === "]" || character === "}") depth--;
  }
  return deepest;
}
