// JSON bodies: metric records with three attributes, about 230 bytes each, values with a full mantissa, one second between two of a stream.
import { seededRandom, seriesLabels } from "./series-labels.mjs";

/** Batches of `perBatch` records over 10,000 streams; a batch always holds the same streams. */
export function* jsonBatches({ records, perBatch = 1000, series = 10_000, endMs }) {
  const shards = series / perBatch;
  const rounds = Math.ceil(records / series);
  const write = makeWriter(series);
  for (let round = 0; round < rounds; round++) {
    const time = new Date(endMs - (rounds - 1 - round) * 1000).toISOString();
    for (let shard = 0; shard < shards; shard++) {
      const texts = Array.from({ length: perBatch }, (_, place) => write(shard * perBatch + place, time));
      yield { shard, samples: perBatch, bytes: Buffer.from(`[${texts.join(",")}]`) };
    }
  }
}

/** Single records over 6,400 streams; stream i belongs to shard i mod 64. */
export function* jsonSingles({ records, series = 6_400, shards = 64, endMs }) {
  const rounds = Math.ceil(records / series);
  const write = makeWriter(series);
  for (let round = 0; round < rounds; round++) {
    const time = new Date(endMs - (rounds - 1 - round) * 1000).toISOString();
    for (let i = 0; i < series; i++) yield { shard: i % shards, samples: 1, bytes: Buffer.from(write(i, time)) };
  }
}

/** Returns (stream, time) => JSON text of its next record. */
function makeWriter(series) {
  const random = seededRandom(44);
  const frames = Array.from({ length: series }, (_, i) => {
    const { __name__: metric, service_id: service, region, env, method } = Object.fromEntries(seriesLabels(i));
    return {
      head: `{"service_id":${JSON.stringify(service)},"type":"metric","metric_name":${JSON.stringify(metric)},"value":`,
      tail: `,"attributes":${JSON.stringify({ region, env, method })}}`,
    };
  });
  return (i, time) => `${frames[i].head}${(random() + random() / 2 ** 32) * 1000},"timestamp":"${time}"${frames[i].tail}`;
}
