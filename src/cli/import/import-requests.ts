// The requests of an import: series after series, each in order of time, about a thousand samples at a time. The order is the file's, so that an import
// that was broken off goes on where it was.
import { IMPORT_REQUEST_SAMPLES } from "../../core/config/limits.ts";
import type { HistorySeries } from "../../domain/history/history-collector.ts";
import { ownAttribute } from "../../domain/series/stream-identity.ts";

/** A request: samples `from` to `to` of the whole file. */
export interface ImportRequest {
  readonly from: number;
  readonly to: number;
  readonly body: string;
}

interface Piece {
  readonly series: HistorySeries;
  readonly from: number;
  readonly to: number;
}

/** Requests from sample `start` of the file on. */
export function* importRequests(series: readonly HistorySeries[], start: number): Generator<ImportRequest> {
  let pieces: Piece[] = [];
  let position = 0;
  let from = start;
  let samples = 0;
  for (const one of series) {
    for (let at = Math.max(0, start - position); at < one.length; ) {
      const to = Math.min(one.length, at + IMPORT_REQUEST_SAMPLES - samples);
      pieces.push({ series: one, from: at, to });
      samples += to - at;
      at = to;
      if (samples < IMPORT_REQUEST_SAMPLES) continue;
      yield { from, to: from + samples, body: bodyOf(pieces) };
      from += samples;
      samples = 0;
      pieces = [];
    }
    position += one.length;
  }
  if (samples > 0) yield { from, to: from + samples, body: bodyOf(pieces) };
}

function bodyOf(pieces: readonly Piece[]): string {
  return JSON.stringify({ series: pieces.map(pieceView) });
}

/** A piece of cumulative values begins with the last one before it, from which the first is measured: without its start, or it might count again. */
function pieceView({ series, from, to }: Piece) {
  const isCounter = ownAttribute(series.attributes, "metric_type") === "counter";
  const first = isCounter ? Math.max(0, from - 1) : from;
  const sampleAt = (index: number) => {
    const startMs = index < from ? 0 : (series.starts?.[index] ?? 0);
    return [series.times[index], series.values[index], ...(startMs > 0 ? [startMs] : [])];
  };
  const samples = Array.from({ length: to - first }, (_, i) => sampleAt(first + i));
  const { serviceId: service_id, metricName: metric_name, attributes, scope } = series;
  return { service_id, metric_name, attributes, scope: scope && { name: scope.name, metric_name: scope.metricName }, samples };
}
