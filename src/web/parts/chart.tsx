// A series over time with the band of what was ordinary, marks of what was found, and changes. uPlot draws; colours follow the theme, times the zone.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { theme, zone } from "../state/route.ts";
import { type ChartMark, type ChartPoint, changeTexts, columnsOf, timeScale } from "../view/chart-columns.ts";
import { pointerText } from "../view/chart-pointer.ts";
import { numberText } from "../view/number-text.ts";
import { clockTime, dayText, fullTime, minuteTime } from "../view/time-text.ts";

const HOUR = 3600;
const NO_MARKS: readonly ChartMark[] = [];
/** Charts that are lower have labels nearer to each other, so that there are two at least. */
const LOW = 200;

export interface ChartProps {
  readonly points: readonly ChartPoint[];
  readonly marks?: readonly ChartMark[];
  readonly unit?: string;
  readonly height?: number;
  readonly label: string;
  /** Ends of the time axis, in ms; those of the data where they are not given. */
  readonly range?: readonly [fromMs: number, toMs: number] | undefined;
  /** Ends of a part that was chosen with the pointer, in ms. */
  readonly onZoom?: (fromMs: number, toMs: number) => void;
}

/** The picture, its legend, and the same as a table. */
export function Chart({ points, marks = NO_MARKS, unit = "", height = 260, label, range, onZoom }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const pointed = useRef<HTMLSpanElement>(null);
  const [fromMs, toMs] = range ?? [undefined, undefined];
  const shownTheme = theme.value;
  const shownZone = zone.value;
  useEffect(() => {
    const element = host.current;
    if (element === null || points.length === 0) return;
    // Written past the renderer: the pointer moves more often than a page is made anew.
    const onPoint = (atMs: number | null) => {
      if (pointed.current !== null) pointed.current.textContent = pointerText(points, atMs, unit, shownZone);
    };
    const drawn = { marks, height, zone: shownZone, range: fromMs === undefined ? undefined : ([fromMs, toMs as number] as const) };
    const plot = new uPlot(optionsOf(element, { ...drawn, onZoom, onPoint }), columnsOf(points), element);
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== plot.width) plot.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [points, marks, shownTheme, shownZone, height, fromMs, toMs, unit]);
  const hasBand = points.some(({ upper }) => upper !== null);
  return (
    <figure class="chart-figure">
      <div class="chart-legend" aria-hidden="true">
        <span>
          <i class="swatch" /> {unit === "" ? "value" : `value in ${unit}`}
        </span>
        {hasBand && (
          <span>
            <i class="swatch band" /> ordinary
          </span>
        )}
        {marks.some(({ kind }) => kind === "anomaly") && (
          <span>
            <i class="swatch mark" /> anomaly
          </span>
        )}
        {changeTexts(marks).map((text) => (
          <span key={text}>
            <i class="swatch dash" /> {text}
          </span>
        ))}
        {onZoom !== undefined && <span class="faint">drag to look closer</span>}
        <span class="num" data-pointed ref={pointed} />
      </div>
      <div
        class="chart"
        ref={host}
        role="img"
        aria-label={`${label}: ${points.length} values; the table below has them`}
        style={{ minHeight: `${height}px` }}
      />
      <ChartTable points={points} marks={marks} zone={shownZone} />
    </figure>
  );
}

const TABLE_ROWS_MAX = 200;

interface TableOf {
  readonly points: readonly ChartPoint[];
  readonly marks: readonly ChartMark[];
  readonly zone: string;
}

/** The twin of the picture. Its rows are made when somebody opens it: 1,400 cells are a third of what a chart costs. */
function ChartTable({ points, marks, zone: of }: TableOf) {
  const [isOpen, setOpen] = useState(false);
  const shown = Math.min(points.length, TABLE_ROWS_MAX);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table{points.length > shown ? `, the newest ${shown} of ${points.length}` : ""}</summary>
      {isOpen && <ChartRows points={points.slice(-shown)} marks={marks} zone={of} />}
    </details>
  );
}

function ChartRows({ points, marks, zone: of }: TableOf) {
  const marked = new Set(marks.map(({ atMs }) => atMs));
  return (
    <div class="scroll short" tabIndex={-1}>
      <table>
        <thead>
          <tr>
            <th>Time</th>
            <th class="right">Value</th>
            <th class="right">Expected</th>
            <th class="right">Ordinary from</th>
            <th class="right">to</th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ atMs, value, expected, lower, upper }) => (
            <tr key={atMs}>
              <td class="tight num">
                {fullTime(atMs, of)} {marked.has(atMs) ? "(anomaly)" : ""}
              </td>
              {[value, expected, lower, upper].map((number, column) => (
                <td class="right" key={column}>
                  {number === null ? "–" : numberText(number)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Drawn {
  readonly marks: readonly ChartMark[];
  readonly height: number;
  readonly zone: string;
  readonly range: ChartProps["range"];
  readonly onZoom?: ChartProps["onZoom"];
  /** The time under the pointer; null where it has left. */
  readonly onPoint: (atMs: number | null) => void;
}

function optionsOf(element: HTMLElement, { marks, height, zone: of, range, onZoom, onPoint }: Drawn): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--faint"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const times = (_: uPlot, splits: number[]) => splits.map((at, index) => timeLabel(at, splits, index, of));
  const hidden = { points: { show: false }, stroke: "transparent", width: 0 };
  return {
    width: Math.max(200, element.clientWidth),
    height,
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 7, fill: colour("--series") },
      drag: { x: onZoom !== undefined, y: false, setScale: false },
      sync: { key: "charts", setSeries: false },
    },
    scales: timeScale(range),
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), of),
    axes: [
      { ...axis, values: times, space: 76 },
      { ...axis, size: 64, space: height < LOW ? 20 : 30, values: (_, splits) => splits.map((value) => numberText(value)) },
    ],
    series: [
      {},
      hidden,
      hidden,
      { stroke: colour("--faint"), width: 1, dash: [4, 4], points: { show: false } },
      { stroke: colour("--series"), width: 1.6, points: { show: (plot) => plot.data[0].length < 60, size: 4, fill: colour("--panel") } },
    ],
    bands: [{ series: [1, 2], fill: colour("--band") }],
    hooks: {
      draw: [(plot) => drawMarks(plot, marks, { anomaly: colour("--high"), change: colour("--faint") })],
      setSelect: [(plot) => choosePart(plot, onZoom)],
      setCursor: [({ cursor, data }) => onPoint(cursor.idx == null ? null : (data[0][cursor.idx] as number) * 1000)],
    },
  };
}

function choosePart(plot: uPlot, onZoom: ChartProps["onZoom"]): void {
  const { left, width } = plot.select;
  if (width < 8 || onZoom === undefined) return;
  onZoom(plot.posToVal(left, "x") * 1000, plot.posToVal(left + width, "x") * 1000);
}

/** 24 hours, with the day where it changes. */
function timeLabel(at: number, splits: readonly number[], index: number, of: string): string {
  const ms = at * 1000;
  const isShort = (splits[1] ?? at) - (splits[0] ?? at) < 60;
  const clock = isShort ? clockTime(ms, of) : minuteTime(ms, of);
  const isLong = (splits[1] ?? at) - (splits[0] ?? at) >= 12 * HOUR;
  const before = splits[index - 1];
  const isNewDay = before === undefined || dayText(before * 1000, of) !== dayText(ms, of);
  if (isLong) return dayText(ms, of);
  return isNewDay ? `${clock}\n${dayText(ms, of)}` : clock;
}

function drawMarks(plot: uPlot, marks: readonly ChartMark[], colours: Readonly<Record<ChartMark["kind"], string>>): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { atMs, value, kind } of marks) {
    const x = plot.valToPos(atMs / 1000, "x", true);
    ctx.strokeStyle = colours[kind];
    ctx.fillStyle = colours[kind];
    ctx.lineWidth = scale;
    ctx.beginPath();
    if (kind === "change" || value === null) {
      ctx.setLineDash([3 * scale, 3 * scale]);
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    } else {
      const y = plot.valToPos(value, "y", true);
      const size = 6 * scale;
      ctx.moveTo(x, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.lineTo(x - size, y + size);
      ctx.closePath();
      ctx.fill();
    }
  }
  ctx.restore();
}
