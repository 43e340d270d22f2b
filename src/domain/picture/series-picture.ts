/**
 * A series over time with the band of what was ordinary, as a small picture for a message: the line, its band, marks of what was found, values left, times of
 * UTC below. 640 x 240 dots of at most nine colours; a few milliseconds, and some 4 kB once packed.
 */
import { textWidth } from "./digits.ts";
import { type Colour, Raster } from "./raster.ts";

/** What is drawn; times in ms since 1970. */
export interface SeriesPicture {
  readonly fromMs: number;
  readonly toMs: number;
  /** In the order of their times; bounds are null where there are none. */
  readonly points: readonly PicturePoint[];
  readonly marks: ReadonlyArray<{ readonly atMs: number; readonly value: number | null }>;
}

export interface PicturePoint {
  readonly atMs: number;
  readonly value: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
}

const SIZE = { width: 640, height: 240 } as const;
/** The part in which the series is drawn. */
const AREA = { left: 60, top: 10, right: 630, bottom: 214 } as const;
const INK = { paper: 0, grid: 1, band: 2, line: 3, mark: 4, text: 5 } as const satisfies Record<string, Colour>;
/** Red, green and blue of each colour: those of the user interface's light theme. */
export const COLOURS: ReadonlyArray<readonly [number, number, number]> = [
  [255, 255, 255],
  [217, 221, 227],
  [223, 232, 243],
  [31, 95, 168],
  [179, 38, 30],
  [75, 85, 99],
];
const VALUE_STEPS = 5;
const TIME_STEPS = 8;
const TIME_STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * 60_000);
/** Points that stand farther apart than so many usual distances are not joined. */
const GAP_FACTOR = 6;
const MARK_DOTS = 9;
/** Beyond it a value is drawn as this: differences of larger ones are no numbers any more. */
const LARGEST = 1e300;
const SMALLEST = 1e-300;
/** Values that differ by less than this share of themselves are one: steps between them would be lost in rounding, and the axis would have no end. */
const EXTENT_SHARE_MIN = 1e-9;

export function drawSeries({ fromMs, toMs, points, marks }: SeriesPicture): Raster {
  const raster = new Raster(SIZE.width, SIZE.height);
  const values = valueScale(points, marks);
  const spanMs = Math.max(1, toMs - fromMs);
  const x = (atMs: number) => within(AREA.left + Math.round(((atMs - fromMs) / spanMs) * (AREA.right - AREA.left)), -1, SIZE.width);
  const share = (value: number) => (drawn(value) - values.least) / (values.most - values.least);
  const y = (value: number) => within(AREA.bottom - Math.round(share(value) * (AREA.bottom - AREA.top)), -1, SIZE.height);
  drawBand(raster, points, x, y);
  drawAxes(raster, values, { fromMs, toMs }, x, y);
  drawLine(raster, points, x, y);
  for (const { atMs, value } of marks) {
    if (value === null) raster.column(x(atMs), AREA.top, AREA.bottom, INK.mark, 3);
    else raster.triangle(x(atMs), y(value) + 3, MARK_DOTS, INK.mark);
  }
  return raster;
}

function within(number: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, number));
}

function drawn(value: number): number {
  return within(value, -LARGEST, LARGEST);
}

interface ValueScale {
  readonly least: number;
  readonly most: number;
  readonly step: number;
}

/** The extent of values and bounds, in whole steps of 1, 2 or 5 times a power of ten. */
function valueScale(points: readonly PicturePoint[], marks: SeriesPicture["marks"]): ValueScale {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const numbers = [...points.flatMap(({ value, lower, upper }) => [value, lower, upper]), ...marks.map(({ value }) => value)];
  for (const number of numbers) {
    if (number === null || !Number.isFinite(number)) continue;
    least = Math.min(least, drawn(number));
    most = Math.max(most, drawn(number));
  }
  if (least > most) return { least: 0, most: 1, step: 1 };
  const rough = extentOf(least, most) / VALUE_STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => rough <= factor * power) ?? 10);
  const from = Math.floor(least / step) * step;
  return { least: from, most: Math.max(from + step, Math.ceil(most / step) * step), step };
}

/** What the axis has to show: the difference, or of equal values the values themselves. */
function extentOf(least: number, most: number): number {
  const size = Math.max(Math.abs(least), Math.abs(most));
  if (most - least > Math.max(SMALLEST, EXTENT_SHARE_MIN * size)) return most - least;
  return size > SMALLEST ? size : 1;
}

type Scale = (value: number) => number;

function drawBand(raster: Raster, points: readonly PicturePoint[], x: Scale, y: Scale): void {
  const gapMs = gapOf(points);
  for (const [index, { atMs, lower, upper }] of points.entries()) {
    if (lower === null || upper === null) continue;
    const next = points[index + 1];
    const isJoined = next !== undefined && next.atMs - atMs <= gapMs;
    for (let at = x(atMs); at <= x(isJoined ? next.atMs : atMs); at++) {
      if (at >= AREA.left && at <= AREA.right) raster.column(at, Math.max(AREA.top, y(upper)), Math.min(AREA.bottom, y(lower)), INK.band);
    }
  }
}

function drawLine(raster: Raster, points: readonly PicturePoint[], x: Scale, y: Scale): void {
  const gapMs = gapOf(points);
  let before: { readonly atMs: number; readonly value: number } | undefined;
  for (const { atMs, value } of points) {
    if (value === null || !Number.isFinite(value)) continue;
    const from = before !== undefined && atMs - before.atMs <= gapMs ? before : { atMs, value };
    raster.line(x(from.atMs), y(from.value), x(atMs), y(value), INK.line);
    before = { atMs, value };
  }
}

/** Longest time between two points that are joined: some usual distances, by the median. */
function gapOf(points: readonly PicturePoint[]): number {
  const steps = points.slice(1).map(({ atMs }, index) => atMs - (points[index] as PicturePoint).atMs);
  steps.sort((a, b) => a - b);
  return GAP_FACTOR * (steps[steps.length >> 1] ?? 0);
}

function drawAxes(raster: Raster, { least, most, step }: ValueScale, range: Pick<SeriesPicture, "fromMs" | "toMs">, x: Scale, y: Scale) {
  for (let index = 0; least + index * step <= most + step / 2; index++) {
    const value = least + index * step;
    raster.row(y(value), AREA.left, AREA.right, INK.grid);
    raster.text(AREA.left - 6, y(value) - 3, numberText(value, step), INK.text, "right");
  }
  const spanMs = range.toMs - range.fromMs;
  const dayMs = TIME_STEPS_MS.at(-1) as number;
  const stepMs = TIME_STEPS_MS.find((ms) => spanMs / ms <= TIME_STEPS) ?? Math.ceil(spanMs / TIME_STEPS / dayMs) * dayMs;
  for (let atMs = Math.ceil(range.fromMs / stepMs) * stepMs; atMs <= range.toMs; atMs += stepMs) {
    raster.column(x(atMs), AREA.bottom + 1, AREA.bottom + 4, INK.text);
    const text = timeText(atMs, stepMs >= dayMs);
    const left = x(atMs) - (textWidth(text) >> 1);
    raster.text(Math.min(left, SIZE.width - textWidth(text)), AREA.bottom + 8, text, INK.text);
  }
  raster.text(4, AREA.bottom + 8, "UTC", INK.text);
}

/** 14:30, or of long ranges 01-31. */
function timeText(ms: number, isDay: boolean): string {
  const text = new Date(ms).toISOString();
  return isDay ? text.slice(5, 10) : text.slice(11, 16);
}

const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** A value of an axis, with as many places as its steps need: 250, 1.5k, 2e-7. */
function numberText(value: number, step: number): string {
  if (Math.abs(value) < step / 2) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e15 || step < 1e-4) return value.toExponential(1).replace(".0", "");
  const [unit, sign] = UNITS.find(([least]) => magnitude >= least) ?? [1, ""];
  const places = Math.min(4, Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)));
  return `${(value / unit).toFixed(places)}${sign}`;
}
