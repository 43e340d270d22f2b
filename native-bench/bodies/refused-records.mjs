// JSON batches of records that a server refuses for its SERIES_LIMIT and would take with a higher one: dead letters that a replay can enter. Their services
// are no other body's, their values quiet noise, one second between two of a stream.
import { seededRandom } from "./series-labels.mjs";

/** Name of the service that takes the one stream which is allowed. */
export const FIRST_SERVICE = "dead-letters-first";

/** One record of the first stream, then `records` of others, in batches. */
export function* refusedRecords({ records, perBatch = 1000, series = 10_000, endMs }) {
  const random = seededRandom(46);
  const shards = series / perBatch;
  const rounds = Math.ceil(records / series);
  yield { shard: 0, samples: 1, bytes: Buffer.from(`[${record(FIRST_SERVICE, "level", 1, endMs)}]`) };
  for (let round = 0; round < rounds; round++) {
    const timeMs = endMs - (rounds - 1 - round) * 1000;
    for (let shard = 0; shard < shards; shard++) {
      const texts = Array.from({ length: perBatch }, (_, place) => {
        const i = shard * perBatch + place;
        return record(`dead-letters-${Math.floor(i / 100)}`, `level_${i % 100}`, 100 + 2 * random(), timeMs);
      });
      yield { shard: 0, samples: perBatch, bytes: Buffer.from(`[${texts.join(",")}]`) };
    }
  }
}

function record(service_id, metric_name, value, timeMs) {
  const attributes = { region: "eu-west-1", env: "production", method: "GET" };
  return JSON.stringify({ service_id, type: "metric", metric_name, value, timestamp: new Date(timeMs).toISOString(), attributes });
}
