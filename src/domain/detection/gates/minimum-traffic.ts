// Few requests prove little: a quantile of seven spans jumps, and one error of two is 50 %. Wilson (1927) for the interval of a share.
import { above, atLeast, type GateResult } from "./gate-result.ts";

const QUANTILE_SPANS_MIN = 20;
const RATIO_REQUESTS_MIN = 10;
const RATIO_ERRORS_MIN = 3;
const Z_95 = 1.959963984540054;

/** A latency quantile needs 20 spans in its window. */
export function quantileTraffic(spans: number): GateResult[] {
  return [atLeast("minimum_spans", spans, QUANTILE_SPANS_MIN)];
}

/** Errors of requests, in a window. */
export interface ErrorCount {
  readonly errors: number;
  readonly requests: number;
}

/** An error ratio needs 10 requests and 3 errors, and its interval must lie above that of the baseline. */
export function ratioTraffic(now: ErrorCount, baseline: ErrorCount): GateResult[] {
  return [
    atLeast("minimum_requests", now.requests, RATIO_REQUESTS_MIN),
    atLeast("minimum_errors", now.errors, RATIO_ERRORS_MIN),
    above("error_ratio_interval", wilsonInterval(now).lower, wilsonInterval(baseline).upper),
  ];
}

/** 95 % interval of errors / requests; without requests 0 to 1, and as a baseline that would let nothing pass. */
export function wilsonInterval({ errors, requests }: ErrorCount): { readonly lower: number; readonly upper: number } {
  if (requests <= 0) return { lower: 0, upper: 1 };
  const share = errors / requests;
  const z2 = Z_95 * Z_95;
  const center = (share + z2 / (2 * requests)) / (1 + z2 / requests);
  const margin = (Z_95 / (1 + z2 / requests)) * Math.sqrt((share * (1 - share)) / requests + z2 / (4 * requests * requests));
  return { lower: Math.max(0, center - margin), upper: Math.min(1, center + margin) };
}
