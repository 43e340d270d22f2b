// The series of a remote-write body that have native histograms. The kernel passes over them; this is read only where it counted some.
import { WIRE_BYTES, WIRE_VARINT, WireReader } from "../codec/wire-reader.ts";

/** Field numbers of the two protocols. */
interface Numbers {
  readonly series: number;
  readonly labels: number;
  readonly histogram: number;
  /** The series' start in ms, of 2.0. */
  readonly created: number | undefined;
}

const VERSION_1: Numbers = { series: 1, labels: 1, histogram: 4, created: undefined };
const VERSION_2: Numbers = { series: 5, labels: 1, histogram: 3, created: 6 };

export interface HistogramSeries {
  /** The series' content: its labels are to be read from it as from a span of label fields. */
  readonly content: Uint8Array;
  /** Histogram messages in the order they were sent. */
  readonly histograms: readonly Uint8Array[];
  /** 0 = not told. */
  readonly createdMs: number;
}

/** Walks the series with histograms of a body that the kernel has checked; the arrays are views. */
export function* histogramSeries(body: Uint8Array, version: 1 | 2): Generator<HistogramSeries> {
  const numbers = version === 1 ? VERSION_1 : VERSION_2;
  const reader = new WireReader(body);
  while (reader.next(body.length)) {
    if (reader.field !== numbers.series || reader.wire !== WIRE_BYTES) continue;
    const end = reader.to;
    const series = readSeries(reader, numbers);
    reader.at = end;
    reader.failed = false;
    if (series.histograms.length > 0) yield series;
  }
}

function readSeries(reader: WireReader, numbers: Numbers): HistogramSeries {
  const content = reader.content();
  const end = reader.to;
  const histograms: Uint8Array[] = [];
  let createdMs = 0;
  reader.enter();
  while (reader.next(end)) {
    if (reader.field === numbers.histogram && reader.wire === WIRE_BYTES) histograms.push(reader.content());
    if (reader.field === numbers.created && reader.wire === WIRE_VARINT && reader.signed() !== 0) createdMs = reader.signed();
  }
  return { content, histograms, createdMs };
}
