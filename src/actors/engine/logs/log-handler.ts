// What a shard does with messages on logs: counts by severity and template, in windows that close into series.

import type { WordPool } from "../../../core/collections/word-pool.ts";
import { NAME_BYTES_MAX } from "../../../core/config/limits.ts";
import { hash128 } from "../../../core/hashing/hash128.ts";
import { BASE_LEAD_MS, SECTION_LOGS } from "../../../core/layout/row-frame.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { LineCounts } from "../../../core/protocol/evidence.ts";
import type { ByteReader } from "../../../domain/codec/byte-reader.ts";
import type { ByteWriter } from "../../../domain/codec/byte-writer.ts";
import { LogAggregate, type LogCell, type LogSeries, type LogWindow } from "../../../domain/logs/log-aggregate.ts";
import type { EvidenceMinutes, MinuteCounts } from "../../../domain/logs/minute-counts.ts";
import { SEVERITIES } from "../../../domain/logs/severity.ts";
import type { WindowOutcome } from "../../../domain/window/open-windows.ts";
import { type ServiceName, WindowMessageReader } from "../../../domain/window/window-message.ts";
import { closingOf, windowTimeMs } from "../../../domain/window/window-time.ts";
import { type AggregateKind, WindowedServices, type WindowShares } from "../../../domain/window/windowed-services.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { DerivedStream } from "../shard/derived-series.ts";
import type { LimitedSeries } from "../shard/limited-series.ts";
import type { MessageArrival, MessageHandler } from "../shard/message-handler.ts";

/** Hex digits of a template's id. */
const TEMPLATE_ID_DIGITS = 16;

export interface LogHandlerDependencies {
  readonly series: Pick<LimitedSeries, "write" | "flush">;
  readonly counters: Pick<EngineCounters, "add" | "set">;
  readonly shares: WindowShares;
}

type LogServiceAggregate = LogAggregate<DerivedStream>;
type Cell = LogCell<DerivedStream>;
type Series = LogSeries<DerivedStream>;

/** Handler of SECTION_LOGS. */
export class LogHandler implements MessageHandler {
  readonly kind = SECTION_LOGS;
  readonly #dependencies: LogHandlerDependencies;
  readonly #services: WindowedServices<LogServiceAggregate, Cell, Series>;

  constructor(dependencies: LogHandlerDependencies) {
    this.#dependencies = dependencies;
    this.#services = new WindowedServices(new LogKind(dependencies), dependencies.shares);
  }

  take(partition: number, payload: Uint8Array, { baseMs, arrivalMs }: MessageArrival): void {
    const arrivalWallMs = baseMs + BASE_LEAD_MS;
    if (arrivalMs === 0) this.#services.closeReplayed(arrivalWallMs);
    const { counters } = this.#dependencies;
    const reader = new WindowMessageReader(payload);
    const service = this.#services.service(partition, reader.service);
    const cells = service?.aggregate.cells ?? 0;
    const most = service === undefined ? 0 : cells + this.#services.available(service.name.tenant);
    const templates: Array<Series | undefined> = [];
    const outcomes = { counted: 0, repeated: 0, late: 0, full: 0 };
    while (reader.next()) {
      if (reader.newName !== undefined && service !== undefined) templates.push(service.aggregate.template(reader.newName, reader.window));
      outcomes[
        service === undefined ? "full" : this.#takeOne(service.aggregate, templates[reader.name - 1], reader, arrivalWallMs, most)
      ]++;
    }
    if (service !== undefined) this.#services.account(service, service.aggregate.cells - cells, outcomes.counted);
    if (service !== undefined && outcomes.full > 0) this.#services.refuse(service.name.tenant, outcomes.full);
    counters.add("logsCounted", outcomes.counted);
    counters.add("logsRepeated", outcomes.repeated);
    counters.add("logsLate", outcomes.late);
    counters.add("logsDropped", outcomes.full);
  }

  /** `most` cells of the service there may be. */
  #takeOne(aggregate: LogServiceAggregate, template: Series | undefined, reader: WindowMessageReader, arrivalWallMs: number, most: number) {
    const { flags: severity, window, high, low } = reader;
    if (severity >= SEVERITIES.length) throw new Error(`a log has severity ${severity}`);
    return aggregate.take(severity, template, window, closingOf(window, arrivalWallMs), high, low, most - aggregate.cells);
  }

  /** Counts of the lines of a service by minute, from the minute of an onset on and before; nothing where too little was counted before. */
  lines(partition: number, name: ServiceName, minutes: EvidenceMinutes): LineCounts[] {
    const aggregate = this.#services.find(partition, name)?.aggregate;
    if (aggregate === undefined) return [];
    const from = Math.max(minutes.from, aggregate.countedSince);
    if (minutes.onset - from < minutes.least) return [];
    const past = (counts: MinuteCounts) => Array.from({ length: minutes.onset - from }, (_, i) => counts.of(from + i));
    return [...aggregate.templates].flatMap(({ tokens, highest, minutes: counts }) => {
      if (counts?.hasSince(from) !== true) return [];
      let now = 0;
      for (let minute = minutes.onset; minute <= minutes.until; minute++) now += counts.of(minute);
      return [{ serviceId: name.serviceId, template: tokens.join(" "), severity: highest, past: past(counts), now }];
    });
  }

  get dueMs(): number {
    return this.#services.dueMs;
  }

  due(wallMs: number, monotonicMs: number): void {
    if (!this.#services.closeDue(wallMs, monotonicMs)) return;
    let templates = 0;
    for (const { aggregate } of this.#services) templates += aggregate.templates.size;
    this.#dependencies.counters.set("logTemplates", templates);
  }

  save(partition: number): readonly Uint8Array[] {
    return this.#services.save(partition);
  }

  restore(partition: number, piece: Uint8Array): void {
    this.#services.restore(partition, piece);
  }
}

/** Contents and results of the windows of logs. */
class LogKind implements AggregateKind<LogServiceAggregate, Cell, Series> {
  readonly #dependencies: LogHandlerDependencies;

  constructor(dependencies: LogHandlerDependencies) {
    this.#dependencies = dependencies;
  }

  make(pool: WordPool): LogServiceAggregate {
    return new LogAggregate<DerivedStream>(pool);
  }

  end(name: ServiceName, aggregate: LogServiceAggregate, open: LogWindow<DerivedStream>, outcome: WindowOutcome, arrivalMs: number): void {
    const { series, counters } = this.#dependencies;
    if (outcome === "late") {
      counters.add("logsLate", open.ids.size);
      return;
    }
    const counted = aggregate.end(open);
    if (outcome === "cut") {
      counters.add("windowsCut", 1);
      return;
    }
    for (const { series: of, count } of counted) {
      of.stream = series.write(of.stream, () => streamName(name, of), 0, windowTimeMs(open.window), count, arrivalMs);
    }
  }

  flush(): void {
    this.#dependencies.series.flush();
  }

  *entries(aggregate: LogServiceAggregate): Generator<Series> {
    for (const severity of aggregate.severities) if (severity.total > 0) yield severity;
    yield* aggregate.templates;
  }

  /** {severity's name, or for a template "" and its words, text; total varint; last window varint; label text} */
  writeEntry(writer: ByteWriter, { name, tokens, total, lastWindow, label }: Series): void {
    writer.text(name);
    if (name === "") writer.text(tokens.join(" "));
    writer.varint(total);
    writer.varint(lastWindow);
    writer.text(label ?? "");
  }

  readEntry(reader: ByteReader, aggregate: LogServiceAggregate): void {
    const name = reader.text(NAME_BYTES_MAX);
    const series = name === "" ? aggregate.templates.restore(reader.text(NAME_BYTES_MAX).split(" ")) : severityNamed(aggregate, name);
    const [total, lastWindow, label] = [reader.varint(), reader.varint(), reader.text(NAME_BYTES_MAX)];
    if (series === undefined) return;
    series.total = total;
    series.lastWindow = lastWindow;
    if (label === "") return;
    series.label = label;
    aggregate.labelled++;
  }

  /** {severity's name, or for a template "" and its words, text; count varint} */
  writeCell(writer: ByteWriter, { series: { name, tokens }, count }: Cell): void {
    writer.text(name);
    if (name === "") writer.text(tokens.join(" "));
    writer.varint(count);
  }

  readCell(reader: ByteReader, aggregate: LogServiceAggregate, open: LogWindow<DerivedStream>): void {
    const name = reader.text(NAME_BYTES_MAX);
    const series = name === "" ? templateNamed(aggregate, reader.text(NAME_BYTES_MAX)) : severityNamed(aggregate, name);
    const count = reader.varint();
    if (series !== undefined) aggregate.cell(open, series).count += count;
  }
}

function streamName(name: ServiceName, { scope, name: severity, label = "" }: Series): StreamName {
  if (scope === "severity") return { ...name, metricName: "log.records", attributes: { severity } };
  const attributes = { template: label, template_id: hash128(label).slice(0, TEMPLATE_ID_DIGITS) };
  return { ...name, metricName: "log.template", attributes };
}

function severityNamed(aggregate: LogServiceAggregate, name: string): Series {
  const series = aggregate.severities.find((each) => each.name === name);
  if (series === undefined) throw new Error(`a checkpoint holds the severity ${JSON.stringify(name)}`);
  return series;
}

function templateNamed(aggregate: LogServiceAggregate, text: string): Series | undefined {
  for (const template of aggregate.templates) if (template.tokens.join(" ") === text) return template;
  return undefined;
}
