// Counts the logs of one service in windows: by severity and by template.
import type { WordPool } from "../../core/collections/word-pool.ts";
import { type OpenWindow, OpenWindows } from "../window/open-windows.ts";
import { minuteOfWindow } from "../window/window-time.ts";
import { MinuteCounts } from "./minute-counts.ts";
import { SEVERITIES } from "./severity.ts";
import { TEMPLATES_MAX, type Template, TemplateTree } from "./template-tree.ts";

/** A template that came so often has a series of its own, while there are so few of the service's. */
const TEMPLATE_SERIES_COUNT_MIN = 10;
const TEMPLATE_SERIES_MAX = 50;
/** A template that was not seen for so many windows, a day, gives its place to another. */
const TEMPLATE_IDLE_WINDOWS = 8_640;

/** A severity or a template, and what its owner keeps with it. */
export interface LogSeries<S> extends Template {
  readonly scope: "severity" | "template";
  /** Name of the severity. */
  readonly name: string;
  /** The highest place in SEVERITIES of its logs. */
  highest: number;
  /** Counts of the last minutes; made with the first log. */
  minutes: MinuteCounts | undefined;
  /** Logs counted in windows that have ended. */
  total: number;
  lastWindow: number;
  /** Once it has a series: the template's text as it was then, which names it for ever. */
  label: string | undefined;
  stream: S | undefined;
}

export interface LogCell<S> {
  readonly series: LogSeries<S>;
  count: number;
}

export type LogWindow<S> = OpenWindow<LogCell<S>[]>;

function series<S>(scope: "severity" | "template", name: string, tokens: string[]): LogSeries<S> {
  return { scope, name, tokens, highest: 0, minutes: undefined, total: 0, lastWindow: 0, label: undefined, stream: undefined };
}

/** One service. `S` is what the owner keeps with each series. */
export class LogAggregate<S> {
  readonly windows: OpenWindows<LogCell<S>[]>;
  cells = 0;
  readonly severities: ReadonlyArray<LogSeries<S>> = SEVERITIES.map((name) => series<S>("severity", name, []));
  readonly templates = new TemplateTree<LogSeries<S>>((tokens) => series<S>("template", "", tokens));
  /** Templates that have a series. */
  labelled = 0;
  /** The first minute whose counts are whole: what was counted before a start is in no memory. */
  countedSince = Number.POSITIVE_INFINITY;

  constructor(pool: WordPool) {
    this.windows = new OpenWindows<LogCell<S>[]>(pool, () => []);
  }

  /** Takes a log for a closing; `room` is how many more cells there may be, in all services. `template` is undefined where there are too many. */
  take(
    severity: number,
    template: LogSeries<S> | undefined,
    window: number,
    closing: number,
    high: number,
    low: number,
    remaining: number,
  ) {
    const open = this.windows.take(window, closing);
    if (open === undefined) return "late";
    if (remaining <= 0) return "full";
    if (!open.ids.add(high, low)) return "repeated";
    this.cell(open, this.severities[severity] as LogSeries<S>).count++;
    if (template !== undefined) {
      this.cell(open, template).count++;
      if (severity > template.highest) template.highest = severity;
    }
    return "counted";
  }

  /** The template of a masked text. */
  template(text: string, window: number): LogSeries<S> | undefined {
    if (this.templates.size >= TEMPLATES_MAX) this.#forgetIdle(window);
    return this.templates.take(text);
  }

  cell(open: LogWindow<S>, of: LogSeries<S>): LogCell<S> {
    let cell = open.content.find((each) => each.series === of);
    if (cell === undefined) {
      cell = { series: of, count: 0 };
      open.content.push(cell);
      this.cells++;
      if (open.window > of.lastWindow) of.lastWindow = open.window;
    }
    return cell;
  }

  /** Ends a window: each series of the service with its count in it, 0 too, so that silence is part of what is usual. */
  end(open: LogWindow<S>): Array<{ readonly series: LogSeries<S>; readonly count: number }> {
    this.countedSince = Math.min(this.countedSince, minuteOfWindow(open.window) + 1);
    const counts = new Map(open.content.map(({ series: of, count }) => [of, count]));
    for (const [of, count] of counts) {
      of.total += count;
      of.minutes ??= new MinuteCounts();
      of.minutes.add(minuteOfWindow(open.window), count);
      if (of.scope === "severity" || of.label !== undefined) continue;
      if (of.total < TEMPLATE_SERIES_COUNT_MIN || this.labelled >= TEMPLATE_SERIES_MAX) continue;
      of.label = of.tokens.join(" ");
      this.labelled++;
    }
    const reported = [
      ...this.severities.filter(({ total }) => total > 0),
      ...[...this.templates].filter(({ label }) => label !== undefined),
    ];
    return reported.map((of) => ({ series: of, count: counts.get(of) ?? 0 }));
  }

  #forgetIdle(window: number): void {
    this.templates.forget(({ lastWindow, label }) => {
      const isIdle = lastWindow < window - TEMPLATE_IDLE_WINDOWS;
      if (isIdle && label !== undefined) this.labelled--;
      return isIdle;
    });
  }
}
