// History in its forms: whatever comes, every sample is finite, in its time and in order, what is left out is counted, and a text reads the same in
// whatever pieces it comes.
import { JSON_DEPTH_MAX } from "../../../src/core/config/limits.ts";
import { decodeJson } from "../../../src/domain/codec/json-body.ts";
import { CsvHistory } from "../../../src/domain/history/csv-history.ts";
import { HistoryCollector, HistoryError } from "../../../src/domain/history/history-collector.ts";
import { readJsonHistory } from "../../../src/domain/history/json-history.ts";
import { FieldExclusions } from "../../../src/domain/series/field-exclusions.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { attempt, type FuzzTarget, magnitude, must, textTokens } from "../target.ts";

const NOW_MS = 1_795_262_400_000;
const TEN_YEARS_MS = 3653 * 24 * 3600 * 1000;
const SAMPLES_MAX = 200;
const textOf = (input: Uint8Array) => Buffer.from(input.buffer, input.byteOffset, input.length).toString("utf8");

/** What a reader made of a text, as text; undefined where it refused the whole. */
function collected(read: (collector: HistoryCollector) => void): { text: string; samples: number } | undefined {
  const collector = new HistoryCollector({ nowMs: NOW_MS, samplesMax: SAMPLES_MAX });
  const isRead = attempt(() => {
    read(collector);
    return true;
  }, HistoryError);
  if (isRead === undefined) return undefined;
  let samples = 0;
  const series = collector.finish().map(({ serviceId, metricName, attributes, times, values, length }) => {
    must(
      typeof serviceId === "string" && serviceId !== "" && typeof metricName === "string" && metricName !== "",
      "a series without a name",
    );
    for (let i = 0; i < length; i++) {
      const [time, value] = [times[i] as number, values[i] as number];
      must(Number.isFinite(value) && Number.isInteger(time), `a sample of ${value} at ${time}`);
      must(time >= NOW_MS - TEN_YEARS_MS && time <= NOW_MS + 600_000, `a sample at ${time}`);
      must(i === 0 || (times[i - 1] as number) < time, "samples that are not in order");
    }
    samples += length;
    return [serviceId, metricName, attributes, [...times.subarray(0, length)], [...values.subarray(0, length)]];
  });
  must(samples <= SAMPLES_MAX && collector.problems.length <= collector.refused, "more samples, or problems, than there are");
  return { text: JSON.stringify([series, collector.refused, collector.problems]), samples };
}

function readCsv(text: string, pieceLength: number) {
  return collected((collector) => {
    const csv = new CsvHistory(collector);
    for (let at = 0; at < text.length; at += pieceLength) csv.push(text.slice(at, at + pieceLength));
    csv.end();
  });
}

/** CSV, whole and in pieces. */
export function csvHistoryTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const text = textOf(input);
    const whole = readCsv(text, Math.max(1, text.length));
    const pieces = readCsv(text, 16 + (input.length % 61));
    must(whole?.text === pieces?.text, "a text reads otherwise in pieces");
    return whole === undefined ? -1 - magnitude(input.length) : whole.samples * 32 + magnitude(input.length);
  };
  const tokens = textTokens(
    "timestamp",
    "service_id",
    "metric_name",
    "value",
    ",",
    '"',
    '""',
    "\r\n",
    "\n",
    "1e308",
    "-0",
    "1795262400",
    "\ufeff",
  );
  return { name: "csv-history", bytesMax: 2_048, tokens, write: writeCsv, check };
}

function writeCsv(out: InputWriter, random: Random): void {
  const extra = random.oneIn(2) ? ",zone" : "";
  out.text(`timestamp,service_id,metric_name,value${extra}\n`);
  for (let lines = random.below(20); lines > 0; lines--) {
    const seconds = NOW_MS / 1000 - random.below(100_000);
    const time = random.pick([String(seconds), String(seconds * 1000), new Date(seconds * 1000).toISOString(), "x"]);
    const service = random.pick(["a", '"a,b"', '"say ""x"""', '"two\nlines"', ""]);
    out.text(
      `${time},${service},m,${random.pick(["1", "-2.5", "1e3", "NaN", "0x1"])}${extra === "" ? "" : ",z"}${random.pick(["\n", "\r\n"])}`,
    );
  }
}

const EXCLUSIONS = new FieldExclusions("password,user.email,attributes.*.token,a.b.c,*.*");

/** JSON of all three forms; and what is taken out of such documents stays out. */
export function jsonHistoryTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const decoded = decodeJson(textOf(input));
    if (!decoded.ok || depthOf(decoded.value) > JSON_DEPTH_MAX) return -1 - magnitude(input.length);
    const before = JSON.stringify(decoded.value);
    const stripped = EXCLUSIONS.strip(decoded.value);
    must(JSON.stringify(decoded.value) === before, "taking fields out changed the document itself");
    must(JSON.stringify(EXCLUSIONS.strip(stripped)) === JSON.stringify(stripped), "fields were left that should be out");
    const whole = collected((collector) => readJsonHistory(decoded.value, collector));
    return whole === undefined ? -100 - magnitude(input.length) : whole.samples * 32 + magnitude(input.length);
  };
  const tokens = textTokens(
    '"resourceMetrics":',
    '"scopeMetrics":',
    '"metrics":',
    '"gauge":',
    '"dataPoints":',
    '"series":',
    '"result":',
    '"values":',
  );
  return { name: "json-history", bytesMax: 4_096, tokens, write: writeJson, check };
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function writeJson(out: InputWriter, random: Random): void {
  const seconds = NOW_MS / 1000 - random.below(100_000);
  const samples = Array.from({ length: random.below(10) }, (_, i) => [seconds + i * 15, random.pick(["1", "2.5", "NaN", "+Inf", 7, null])]);
  const attributes = { zone: "a", password: 1, user: { email: 2 } };
  const point = { timeUnixNano: `${seconds}000000000`, asDouble: 1.5, attributes: [{ key: "k", value: { stringValue: "v" } }] };
  const metric = random.pick([
    { name: "g", gauge: { dataPoints: [point, point] } },
    { name: "s", sum: { isMonotonic: true, dataPoints: [{ ...point, asDouble: undefined, asInt: "5" }] } },
    { name: "h", histogram: { dataPoints: [point] } },
  ]);
  const documents = [
    { data: { result: [{ metric: { __name__: "up", job: "a" }, values: samples }] } },
    { series: [{ service_id: "s", metric_name: "m", attributes, kind: random.pick(["gauge", "counter"]), samples }] },
    {
      resourceMetrics: [
        { resource: { attributes: [{ key: "service.name", value: { stringValue: "s" } }] }, scopeMetrics: [{ metrics: [metric] }] },
      ],
    },
  ];
  out.text(JSON.stringify(random.pick(documents)));
}
