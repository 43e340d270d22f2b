// History as remote-write bodies, 1.0 (prometheus.WriteRequest) and 2.0 (io.prometheus.write.v2.Request): series by their labels, with samples.
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import { readNumbers, WIRE_VARINT, WireReader } from "../codec/wire-reader.ts";
import { flagsOfSeries } from "../series/classification.ts";
import { nameOfLabels, serviceLabelNumber } from "../series/stream-identity.ts";
import { COUNTER, type HistoryCollector, HistoryError, type HistoryName } from "./history-collector.ts";

/** Numbers of the fields in which both versions differ. */
interface MessageForm {
  readonly series: number;
  readonly histograms: number;
}

const FORM_1: MessageForm = { series: 1, histograms: 4 };
const FORM_2: MessageForm = { series: 5, histograms: 3 };
const SYMBOLS_2 = 4;
/** Of a series in both versions. */
const LABELS = 1;
const SAMPLES = 2;
/** Labels of a series: more are refused, and read no further. */
const SERIES_LABELS_BOUND = 1_000;
/** Symbols of a message: of 10,000 samples of 10 labels each all that there can be. */
const SYMBOLS_BOUND = 200_000;

type Label = readonly [name: string, value: string];

interface SentSample {
  readonly timeMs: number;
  readonly value: number;
  readonly startMs: number;
}

interface SentSeries {
  readonly labels: Label[];
  readonly samples: SentSample[];
  histograms: number;
}

/** Reads a body that is decompressed. `replicaLabels` are no part of a series' name. Throws HistoryError where it is no message, or has more samples than the collector takes. */
export function readRemoteWriteHistory(
  bytes: Uint8Array,
  version: 1 | 2,
  replicaLabels: ReadonlySet<string>,
  collector: HistoryCollector,
): void {
  const form = version === 1 ? FORM_1 : FORM_2;
  const symbols = version === 1 ? undefined : symbolsOf(bytes);
  const reader = new WireReader(bytes);
  for (let index = 0; reader.next(bytes.length); ) {
    if (reader.field !== form.series) continue;
    const series = readSeries(reader, form, symbols, collector);
    if (series !== undefined) addSeries(series, `series ${index++}`, replicaLabels, collector);
  }
  if (reader.failed) throw notRead();
}

function notRead(): HistoryError {
  return new HistoryError("unprocessable", "the body is not a snappy block holding a remote-write message");
}

function symbolsOf(bytes: Uint8Array): string[] {
  const reader = new WireReader(bytes);
  const symbols: string[] = [];
  while (reader.next(bytes.length)) {
    if (reader.field !== SYMBOLS_2) continue;
    if (symbols.length === SYMBOLS_BOUND) throw new HistoryError("batch_too_large", `a message may have ${SYMBOLS_BOUND} symbols`);
    symbols.push(reader.name());
  }
  return symbols;
}

function readSeries(
  reader: WireReader,
  form: MessageForm,
  symbols: readonly string[] | undefined,
  collector: HistoryCollector,
): SentSeries | undefined {
  const end = reader.to;
  if (!reader.enter()) return undefined;
  const series: SentSeries = { labels: [], samples: [], histograms: 0 };
  const references: number[] = [];
  while (reader.next(end)) {
    if (series.samples.length > collector.samplesMax) throw collector.tooMany();
    if (reader.field === SAMPLES) series.samples.push(readSample(reader));
    else if (reader.field === form.histograms) series.histograms++;
    else if (reader.field !== LABELS) continue;
    else if (series.labels.length > SERIES_LABELS_BOUND) continue;
    else if (symbols === undefined) series.labels.push(readLabel(reader));
    else readNumbers(reader, WIRE_VARINT, 2 * SERIES_LABELS_BOUND, references, () => reader.unsigned());
  }
  for (let at = 0; at + 1 < references.length; at += 2) {
    const [name, value] = [symbols?.[references[at] as number], symbols?.[references[at + 1] as number]];
    if (name === undefined || value === undefined) throw new HistoryError("unprocessable", "a label refers to no symbol of the message");
    series.labels.push([name, value]);
  }
  return series;
}

function readLabel(reader: WireReader): Label {
  const end = reader.to;
  let [name, value] = ["", ""];
  if (reader.enter()) {
    while (reader.next(end)) {
      if (reader.field === 1) name = reader.name();
      else if (reader.field === 2) value = reader.name();
    }
  }
  return [name, value];
}

/** Field 3 is of 2.0: when counting began. */
function readSample(reader: WireReader): SentSample {
  const end = reader.to;
  const sample = { timeMs: 0, value: 0, startMs: 0 };
  if (reader.enter()) {
    while (reader.next(end)) {
      if (reader.field === 1) sample.value = reader.double();
      else if (reader.field === 2) sample.timeMs = reader.signed();
      else if (reader.field === 3) sample.startMs = reader.signed();
    }
  }
  return sample;
}

function addSeries(
  { labels, samples, histograms }: SentSeries,
  at: string,
  replicaLabels: ReadonlySet<string>,
  collector: HistoryCollector,
): void {
  const whole = () => at;
  if (labels.length > SERIES_LABELS_BOUND) {
    return collector.refuse(whole, "invalid_attributes", `a series may have ${SERIES_LABELS_BOUND} labels`, samples.length + histograms);
  }
  if (histograms > 0) {
    const message = "native histograms are imported as Prometheus' query_range answers them, not as remote-write has them";
    collector.refuse(whole, "invalid_record", message, histograms);
  }
  if (samples.length === 0) return;
  const series = collector.find(counted(labels, replicaLabels), whole, samples.length);
  if (series === undefined) return;
  for (const [index, { timeMs, value, startMs }] of samples.entries()) {
    collector.add(series, timeMs, value, () => `${at}, sample ${index}`, startMs);
  }
}

/** Counters are known by their names. */
function counted(labels: readonly Label[], replicaLabels: ReadonlySet<string>): HistoryName {
  const { serviceId, metricName, attributes } = nameOfLabels("", labels, replicaLabels);
  const isCounter = (flagsOfSeries(metricName) & FLAG_COUNTER) !== 0;
  return {
    serviceId,
    metricName,
    serviceLabel: serviceLabelNumber(labels),
    attributes: isCounter ? { ...attributes, ...COUNTER } : attributes,
  };
}
