// Remote-write bodies with planted anomalies: a quiet background in which one sample of each request, after a time to learn, is a spike.
// Each series gets one spike, so an anomaly names its plant by service and metric, and there are as many plants as series.
import { remoteWriteBodies } from "./remote-write.mjs";
import { seededRandom, seriesLabels } from "./series-labels.mjs";

const seriesCount = 14_000;
const perRequest = 2_000;
const shards = seriesCount / perRequest;
/** One whole window (WATCHDOG_WINDOW) and some. */
const quietRounds = 130;
/** Coprime to perRequest: steps of this size visit each place of a request once. */
const placeStep = 769;
/** Uniform noise reaches 1.7 of its standard deviations and so is no anomaly itself; a spike stands 69 of them above. */
const noiseWidth = 2;
const spikeHeight = 40;

/** Requests before the first spike. */
export const quietRequests = quietRounds * shards;
/** Spikes in all; from quietRequests on one a request. */
export const plantCount = seriesCount;
/**
 * Spikes after a start that stand in no p99 of a row: until then the way of an anomaly is compiled, as a row's cold requests are left out elsewhere. At
 * least 10,000 remain where all are sent.
 */
export const coldPlantCount = 2_000;

/** The plant of request `index` of the file, undefined before the first: what its anomaly will be called. */
export function plantOf(/** @type {number} */ index) {
  const round = Math.floor(index / shards) - quietRounds;
  return round < 0 ? undefined : pairKey(nameOf((index % shards) + placeOf(round) * shards));
}

/** Whether a value is a spike. */
export function isSpike(/** @type {number} */ value) {
  return value > levelOf(seriesCount - 1) + noiseWidth;
}

/** How an anomaly is matched with a plant. */
export function pairKey(/** @type {{service_id: string, metric_name: string}} */ { service_id, metric_name }) {
  return `${service_id} ${metric_name}`;
}

/** The bodies: 2,130 rounds over 14,000 series, one second apart. */
export function plantedBodies(/** @type {{endMs: number}} */ { endMs }) {
  const random = seededRandom(45);
  const rounds = new Uint32Array(seriesCount);
  const values = (i) => {
    const round = rounds[i]++ - quietRounds;
    const isPlant = round >= 0 && placeOf(round) === Math.floor(i / shards);
    const value = levelOf(i) + (random() - 0.5) * noiseWidth + (isPlant ? spikeHeight : 0);
    return Math.round(value * 1000) / 1000;
  };
  const samples = (quietRounds + plantCount / shards) * seriesCount;
  return remoteWriteBodies({ series: seriesCount, perRequest, samples, values, endMs });
}

function placeOf(round) {
  return (round * placeStep) % perRequest;
}

/** Between 100 and 120, so that a spike is above every level. */
function levelOf(i) {
  return 100 + (i % 20);
}

function nameOf(i) {
  const { __name__: metric_name, service_id } = Object.fromEntries(seriesLabels(i));
  return { service_id, metric_name };
}
