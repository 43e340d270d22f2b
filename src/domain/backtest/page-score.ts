// Pages against labelled incidents, as shared measures of detection count them (test/eval/score_pages.py is the twin): an incident is found where a page lies from `before` rows ahead of it
// to `after` rows behind its last row; a page that lies in no incident is false.
import { median } from "../detection/robust.ts";

/** Which rows around an incident count. */
const ROWS_BEFORE = 3;
const ROWS_AFTER = 12;

/** An incident by its first and last row. */
export interface LabelledRows {
  readonly from: number;
  readonly to: number;
}

/** Score of the pages of one file. */
export interface PageScore {
  readonly incidents: number;
  readonly found: number;
  readonly pages: number;
  readonly falsePages: number;
  /** Rows from the start of each found incident to its first page. */
  readonly delays: readonly number[];
  readonly days: number;
}

/** Counts the pages of one file; `pageRows` ascend. */
export function scorePages(pageRows: readonly number[], incidents: readonly LabelledRows[], days: number): PageScore {
  const lies = (row: number, { from, to }: LabelledRows) => row >= from - ROWS_BEFORE && row <= to + ROWS_AFTER;
  const delays = incidents.flatMap((incident) => {
    const first = pageRows.find((row) => lies(row, incident));
    return first === undefined ? [] : [Math.max(0, first - incident.from)];
  });
  const falsePages = pageRows.filter((row) => !incidents.some((incident) => lies(row, incident))).length;
  return { incidents: incidents.length, found: delays.length, pages: pageRows.length, falsePages, delays, days };
}

/** Ratios of sums; null where nothing was there to be found. */
export interface PageFigures extends Omit<PageScore, "delays"> {
  readonly recall: number | null;
  readonly precision: number | null;
  readonly f1: number;
  readonly falsePerDay: number;
  readonly delayRows: number | null;
}

/** The figures of several files together. */
export function figuresOf(scores: readonly PageScore[]): PageFigures {
  const sum = (of: (score: PageScore) => number) => scores.reduce((total, score) => total + of(score), 0);
  const [incidents, found, pages] = [sum((score) => score.incidents), sum((score) => score.found), sum((score) => score.pages)];
  const [falsePages, days] = [sum((score) => score.falsePages), sum((score) => score.days)];
  const recall = incidents === 0 ? null : found / incidents;
  const precision = found + falsePages === 0 ? null : found / (found + falsePages);
  const f1 = recall && precision ? (2 * recall * precision) / (recall + precision) : 0;
  const delays = scores.flatMap((score) => score.delays);
  const falsePerDay = days === 0 ? 0 : falsePages / days;
  return {
    incidents,
    found,
    pages,
    falsePages,
    days,
    recall,
    precision,
    f1,
    falsePerDay,
    delayRows: delays.length === 0 ? null : median(delays),
  };
}
