// Remote-write bodies with planted anomalies: a quiet background in which one sample of each request, or of each so many, is a spike after a time to learn.
// A series gets one spike at most, so an anomaly names its plant by service and metric, and there are at most as many plants as series.
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
/** Spikes in all, where nothing else is asked for; from quietRequests on one a request. */
export const plantCount = seriesCount;
/**
 * Spikes after a start that stand in no p99 of a row: until then the way of an anomaly is compiled, as a row's cold requests are left out elsewhere. At
 * least 10,000 remain where all are sent.
 */
export const coldPlantCount = 2_000;

/**
 * The plant of request `index` of the file, undefined where it has none: what its anomaly will be called. `every` as the bodies were made with: requests from
 * one spike to the next, coprime to the shards.
 */
export function plantOf(/** @type {number} */ index, every = 1) {
  const place = plantedPlace(index - quietRequests, every);
  return place === undefined ? undefined : pairKey(nameOf((index % shards) + place * shards));
}

/** Place in its request of the spike of the nth request behind the quiet ones. */
function plantedPlace(n, every) {
  return n < 0 || n % every !== 0 ? undefined : placeOf(Math.floor(n / every / shards));
}

/** Whether a value is a spike. */
export function isSpike(/** @type {number} */ value) {
  return value > levelOf(seriesCount - 1) + noiseWidth;
}

/** How an anomaly is matched with a plant. */
export function pairKey(/** @type {{service_id: string, metric_name: string}} */ { service_id, metric_name }) {
  return `${service_id} ${metric_name}`;
}

/** The bodies, over 14,000 series, one second apart: 2,130 rounds of them by default. */
export function plantedBodies(/** @type {{endMs: number, every?: number, plants?: number}} */ { endMs, every = 1, plants = plantCount }) {
  const random = seededRandom(45);
  const rounds = new Uint32Array(seriesCount);
  const values = (i) => {
    const n = (rounds[i]++ - quietRounds) * shards + (i % shards);
    const isPlant = plantedPlace(n, every) === Math.floor(i / shards);
    const value = levelOf(i) + (random() - 0.5) * noiseWidth + (isPlant ? spikeHeight : 0);
    return Math.round(value * 1000) / 1000;
  };
  const samples = (quietRounds + Math.ceil((plants * every) / shards)) * seriesCount;
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
