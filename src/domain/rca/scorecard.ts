// What reports were worth: their candidates and confidence against the services at which people resolved the incidents.

/** Statements of one revision, and the service that was named afterwards. */
export interface ScoredRevision {
  readonly revision: number;
  /** The first three candidates. */
  readonly top: readonly string[];
  readonly confidence: number;
  readonly enough: boolean;
  readonly cause: string;
}

export interface RevisionScore {
  readonly revision: number;
  readonly reports: number;
  readonly hitsAt1: number | null;
  readonly hitsAt3: number | null;
}

export interface CalibrationBin {
  readonly from: number;
  readonly to: number;
  readonly reports: number;
  readonly right: number;
}

const BINS = 5;

/** Scores of each revision's number, in order. */
export function scoresByRevision(scored: readonly ScoredRevision[]): RevisionScore[] {
  const numbers = [...new Set(scored.map(({ revision }) => revision))].sort((a, b) => a - b);
  return numbers.map((revision) => {
    const of = scored.filter((one) => one.revision === revision);
    return { revision, reports: of.length, hitsAt1: hits(of, 1), hitsAt3: hits(of, 3) };
  });
}

/** Share whose cause is among the first `k`; null of none. */
export function hits(scored: readonly ScoredRevision[], k: number): number | null {
  if (scored.length === 0) return null;
  return scored.filter(({ top, cause }) => top.slice(0, k).includes(cause)).length / scored.length;
}

/** Bins of reports that named a cause, by their confidence. */
export function calibration(scored: readonly ScoredRevision[]): CalibrationBin[] {
  const named = scored.filter(({ enough }) => enough);
  return Array.from({ length: BINS }, (_, i) => {
    const of = named.filter(({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)) === i);
    return { from: i / BINS, to: (i + 1) / BINS, reports: of.length, right: of.filter(({ top, cause }) => top[0] === cause).length };
  }).filter(({ reports }) => reports > 0);
}

/** Mean squared error of confidence; null of none. */
export function brier(scored: readonly ScoredRevision[]): number | null {
  const named = scored.filter(({ enough }) => enough);
  if (named.length === 0) return null;
  return named.reduce((sum, { confidence, top, cause }) => sum + (confidence - (top[0] === cause ? 1 : 0)) ** 2, 0) / named.length;
}
