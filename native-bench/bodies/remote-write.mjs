// Remote-write bodies: snappy over WriteRequests whose labels stay and whose values and times change from round to round. Their bytes are promised: they are
// compressed on threads of their own while the next ones are filled.

import { importOfTests } from "../test-packages.mjs";
import { seededRandom, seriesLabels } from "./series-labels.mjs";

const { default: snappy } = await importOfTests("snappy");

const sampleBytes = 16; // of one Sample message: tag and double, tag and a varint of six bytes
const timeBytes = 6; // a varint of a time in ms between 2005 and 2109

/** A sample's field before anything is written into it. */
const emptySample = String.fromCharCode(0x12, sampleBytes, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0);

/**
 * Rounds over all series. Series i belongs to shard i mod (series / perRequest); a body holds all series of one shard, `samplesPerSeries`
 * samples each, `stepMs` apart. Values: "random" are uniform in [0, 1000) with a full mantissa; "walk" are random walks of 3 decimals;
 * "small" are whole numbers below 256, which snappy makes few bytes of; a function is called for each sample of a series in order.
 * The last sample of all stands at `endMs`.
 * @param {{series: number, perRequest: number, samplesPerSeries?: number, samples: number, values?: "random" | "walk" | "small" | ((series: number) => number), stepMs?: number, labels?: (series: number) => Array<[string, string]>, endMs: number}} options
 */
export function* remoteWriteBodies({
  series,
  perRequest,
  samplesPerSeries = 1,
  samples,
  values = "random",
  stepMs = 1000,
  labels = seriesLabels,
  endMs,
}) {
  const shards = Math.ceil(series / perRequest);
  const rounds = Math.ceil(samples / (series * samplesPerSeries));
  const startMs = endMs - (rounds * samplesPerSeries - 1) * stepMs;
  const requests = Array.from({ length: shards }, (_, shard) => makeRequest(shardSeries(shard, shards, series), samplesPerSeries, labels));
  const value = typeof values === "function" ? values : MAKERS[values](series);
  for (let round = 0; round < rounds; round++) {
    for (let shard = 0; shard < shards; shard++) {
      const request = requests[shard];
      fill(request, startMs + round * samplesPerSeries * stepMs, stepMs, samplesPerSeries, (place) => value(shard + place * shards));
      yield { shard, samples: request.samplePlaces.length, bytes: compressed(request) };
    }
  }
}

/** Bodies in which every sample begins a new series, numbered from `firstSeries`. */
export function* newStreamBodies({ requests, perRequest, shards = 5, endMs, firstSeries = 0 }) {
  const value = makeUniform();
  for (let body = 0; body < requests; body++) {
    const series = Array.from({ length: perRequest }, (_, place) => firstSeries + body * perRequest + place);
    const request = makeRequest(series, 1);
    fill(request, endMs, 0, 1, value);
    yield { shard: body % shards, samples: perRequest, bytes: compressed(request) };
  }
}

/** A copy is compressed: the next round is written over the request. */
function compressed({ bytes }) {
  return snappy.compress(Buffer.from(bytes));
}

function shardSeries(shard, shards, series) {
  return Array.from({ length: Math.ceil((series - shard) / shards) }, (_, place) => shard + place * shards);
}

function makeUniform() {
  const random = seededRandom(42);
  // Two draws: 32 random bits alone would leave half of the mantissa zero.
  return () => (random() + random() / 2 ** 32) * 1000;
}

function makeWalks(series) {
  const random = seededRandom(43);
  const at = Float64Array.from({ length: series }, () => random() * 100);
  return (i) => {
    at[i] += random() - 0.5;
    return Math.round(at[i] * 1000) / 1000;
  };
}

function makeSmall() {
  const random = seededRandom(46);
  return () => Math.floor(random() * 256);
}

const MAKERS = { random: makeUniform, walk: makeWalks, small: makeSmall };

/** An encoded WriteRequest and where each of its samples' messages begins. As text of one-byte characters first: a million series are joined fast so. */
function makeRequest(series, samplesPerSeries, labelsOf = seriesLabels) {
  const samples = emptySample.repeat(samplesPerSeries);
  const parts = [];
  const samplePlaces = new Uint32Array(series.length * samplesPerSeries);
  let length = 0;
  let k = 0;
  for (const i of series) {
    const labels = encodeLabels(labelsOf(i));
    const head = `\n${String.fromCharCode(...varint(labels.length + samples.length))}${labels}`;
    parts.push(head, samples);
    length += head.length;
    for (let sample = 0; sample < samplesPerSeries; sample++) samplePlaces[k++] = length + sample * emptySample.length + 2;
    length += samples.length;
  }
  const bytes = Buffer.from(parts.join(""), "latin1");
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, length), samplePlaces };
}

/** Names and values are ASCII and all lengths below 128: then a length is one character. */
function encodeLabels(labels) {
  return labels.map(([name, value]) => field("\n", field("\n", name) + field("\x12", value))).join("");
}

function field(tag, text) {
  if (text.length > 127) throw new RangeError("a label is longer than one byte can say");
  return tag + String.fromCharCode(text.length) + text;
}

function varint(number) {
  const bytes = [];
  let rest = number;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

/** Writes values and times over those of the round before. */
function fill({ view, samplePlaces }, firstMs, stepMs, samplesPerSeries, value) {
  const times = Array.from({ length: samplesPerSeries }, (_, sample) => Buffer.from(varint(firstMs + sample * stepMs)));
  if (times.some((time) => time.length !== timeBytes)) throw new RangeError("the time does not fit its place");
  const low = times.map((time) => time.readUInt32LE(0));
  const high = times.map((time) => time.readUInt16LE(4));
  for (let k = 0, place = 0; k < samplePlaces.length; place++) {
    for (let sample = 0; sample < samplesPerSeries; sample++, k++) {
      const at = samplePlaces[k];
      view.setFloat64(at + 1, value(place), true);
      view.setUint32(at + 10, low[sample], true);
      view.setUint16(at + 14, high[sample], true);
    }
  }
}
