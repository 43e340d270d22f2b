// Draws panels of curves over time as SVG: axes with round ticks and units, a legend, the second half of the run (the judged one) shaded.

import { quantile } from "./process-sampler.ts";

/** One curve. */
export interface Curve {
  readonly label: string;
  readonly values: readonly number[];
}

/** One panel; its y axis begins at 0. */
export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly curves: readonly Curve[];
  readonly note?: string;
}

const WIDTH = 900;
const PANEL_HEIGHT = 190;
const LEFT = 64;
const RIGHT = 24;
const TOP = 34;
const BOTTOM = 34;
const HEAD = 46;
const COLOURS = ["#1b6ca8", "#c8553d", "#3a8a55", "#8a5ba6"];
/** Points of a curve; more are summed up by their maximum, so that no peak is lost. */
const POINTS_MAX = 600;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const round = (value: number) => String(Math.round(value * 100) / 100);

/** The whole picture; `seconds` are the places on the x axis. */
export function drawPanels(title: string, subtitle: string, seconds: readonly number[], panels: readonly Panel[]): string {
  const height = HEAD + panels.length * PANEL_HEIGHT;
  const drawn = panels.map((panel, place) => drawPanel(panel, seconds, HEAD + place * PANEL_HEIGHT));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12">
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="${LEFT}" y="20" font-size="15" font-weight="600" fill="#222">${escaped(title)}</text>
<text x="${LEFT}" y="37" fill="#666">${escaped(subtitle)}</text>
${drawn.join("\n")}
</svg>
`;
}

function drawPanel({ title, unit, curves, note }: Panel, seconds: readonly number[], top: number): string {
  const [x0, x1, y0, y1] = [LEFT, WIDTH - RIGHT, top + PANEL_HEIGHT - BOTTOM, top + TOP];
  const end = Math.max(1, seconds.at(-1) ?? 1);
  const most = axisEnd(curves);
  const yTicks = ticks(most === 0 ? 1 : most, 4);
  const yEnd = yTicks.at(-1) as number;
  const x = (second: number) => x0 + (second / end) * (x1 - x0);
  const y = (value: number) => y0 - (Math.min(value, yEnd) / yEnd) * (y0 - y1);
  const parts = [
    `<rect x="${round(x(end / 2))}" y="${y1}" width="${round(x1 - x(end / 2))}" height="${y0 - y1}" fill="#f4f6f8"/>`,
    `<text x="${x0}" y="${top + 16}" font-weight="600" fill="#222">${escaped(`${title} [${unit}]`)}</text>`,
    ...yTicks.map((value) => yTick(value, x0, x1, y(value))),
    ...timeTicks(end).map(([second, label]) => xTick(label, x(second), y0)),
    `<line x1="${x0}" y1="${y0}" x2="${x1}" y2="${y0}" stroke="#444"/>`,
    ...curves.map(({ values }, place) => curvePath(thinned(seconds, values), x, y, COLOURS[place % COLOURS.length] as string)),
    ...legend(curves, x1, top + 16),
    note === undefined ? "" : `<text x="${x0 + 6}" y="${y1 + 12}" fill="#888" font-size="11">${escaped(note)}</text>`,
  ];
  return parts.filter((part) => part !== "").join("\n");
}

/** The largest value, or, where that is a rare peak, a good deal over the rest: the peak then leaves the panel at its top. */
function axisEnd(curves: readonly Curve[]): number {
  const values = curves.flatMap((curve) => curve.values).filter((value) => !Number.isNaN(value));
  const most = values.reduce((max, value) => (value > max ? value : max), 0);
  const usual = 1.5 * quantile(values, 0.99);
  return usual > 0 && most > 2 * usual ? usual : most;
}

function yTick(value: number, x0: number, x1: number, y: number): string {
  const line = `<line x1="${x0}" y1="${round(y)}" x2="${x1}" y2="${round(y)}" stroke="#dde1e6"/>`;
  return `${line}<text x="${x0 - 6}" y="${round(y + 4)}" text-anchor="end" fill="#444">${round(value)}</text>`;
}

function xTick(label: string, x: number, y0: number): string {
  const line = `<line x1="${round(x)}" y1="${y0}" x2="${round(x)}" y2="${y0 + 4}" stroke="#444"/>`;
  return `${line}<text x="${round(x)}" y="${y0 + 17}" text-anchor="middle" fill="#444">${label}</text>`;
}

/** From the right: the last curve stands outermost. */
function legend(curves: readonly Curve[], right: number, y: number): string[] {
  let x = right;
  return curves
    .map(({ label }, place) => ({ label, colour: COLOURS[place % COLOURS.length] as string }))
    .reverse()
    .map(({ label, colour }) => {
      x -= label.length * 6.4 + 34;
      const line = `<line x1="${round(x)}" y1="${y - 4}" x2="${round(x + 18)}" y2="${y - 4}" stroke="${colour}" stroke-width="2"/>`;
      return `${line}<text x="${round(x + 22)}" y="${y}" fill="#222">${escaped(label)}</text>`;
    });
}

function curvePath(
  points: ReadonlyArray<readonly [number, number]>,
  x: (second: number) => number,
  y: (value: number) => number,
  colour: string,
): string {
  let isDown = false;
  let path = "";
  for (const [second, value] of points) {
    if (Number.isNaN(value)) continue;
    path += `${isDown ? "L" : "M"}${round(x(second))} ${round(y(value))}`;
    isDown = true;
  }
  return path === "" ? "" : `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.3" stroke-linejoin="round"/>`;
}

function thinned(seconds: readonly number[], values: readonly number[]): Array<readonly [number, number]> {
  const step = Math.max(1, Math.ceil(values.length / POINTS_MAX));
  const points: Array<readonly [number, number]> = [];
  for (let from = 0; from < values.length; from += step) {
    const piece = values.slice(from, from + step).filter((value) => !Number.isNaN(value));
    points.push([seconds[from] as number, piece.length === 0 ? Number.NaN : Math.max(...piece)]);
  }
  return points;
}

/** Round numbers from 0 to at least `most`: steps of 1, 2 or 5 times a power of ten. */
function ticks(most: number, count: number): number[] {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) as number) * power;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step);
}

/** Places on the axis of time: seconds below three minutes, else minutes. */
function timeTicks(end: number): Array<readonly [second: number, label: string]> {
  const [unit, name] = end < 180 ? [1, "s"] : [60, "min"];
  return ticks(end / unit, 8)
    .filter((value) => value * unit <= end)
    .map((value) => [value * unit, `${round(value)} ${name}`]);
}
