// Remote-write bodies with planted anomalies: a quiet background in which one sample of each request, or of each so many, is a spike after a time to learn.
// A series gets one spike at most, so an anomaly names its plant by service and metric, and there are at most as many plants as series.
import { remoteWriteBodies } from "./remote-write.mjs";
import { seededRandom, seriesLabels } from "./series-labels.mjs";

const perRequest = 2_000;
/** One whole window (WATCHDOG_WINDOW) and some. */
const quietRounds = 130;
/** Coprime to perRequest: steps of this size visit each place of a request once. */
const placeStep = 769;
/** Uniform noise reaches 1.7 of its standard deviations and so is no anomaly itself; a spike stands 69 of them above. */
const noiseWidth = 2;
const spikeHeight = 40;
/** Levels are between 100 and this, so that a spike is above every level. */
const levelsEnd = 120;

/**
 * How spikes are planted.
 * @typedef {object} Planting
 * @property {number} [series]  a multiple of the samples of a request
 * @property {number} [every]   requests from one spike to the next, coprime to the shards
 * @property {number} [coldEvery]  the same of the cold ones, of which there are whole rounds of the shards where it differs
 */

/** Series and spikes, where nothing else is asked for. */
const seriesUsual = 10_000;
const plantsUsual = 5_000;
/**
 * Requests from one spike to the next behind the cold ones, where nothing else is asked for. With one in each, anomalies take the server more CPU than samples do, and half of what saturates
 * it with samples alone is nearly all that it can.
 */
const everyUsual = 4;
/**
 * Spikes after a start that stand in no p99 of a row: until then the way of an anomaly is compiled, as a row's cold requests are left out elsewhere.
 */
export const coldPlantCount = 2_000;

/** Requests before the first spike. */
export function quietRequestsOf(/** @type {Planting} */ planting) {
  return quietRounds * layoutOf(planting).shards;
}

/** Requests behind the quiet ones up to the first spike that counts. */
export function coldRequestsOf(/** @type {Planting} */ planting) {
  return coldPlantCount * layoutOf(planting).coldEvery;
}

/** The plant of request `index` of the file, undefined where it has none: what its anomaly will be called. */
export function plantOf(/** @type {number} */ index, /** @type {Planting} */ planting) {
  const series = plantedSeries(index - quietRequestsOf(planting), layoutOf(planting));
  return series === undefined ? undefined : pairKey(nameOf(series));
}

function layoutOf({ series = seriesUsual, every = everyUsual, coldEvery = 1 }) {
  return { series, every, coldEvery, shards: series / perRequest };
}

/** Series of the spike of the nth request behind the quiet ones. */
function plantedSeries(n, { every, coldEvery, shards }) {
  const afterCold = n - coldPlantCount * coldEvery;
  const plant = afterCold < 0 ? n / coldEvery : coldPlantCount + afterCold / every;
  if (n < 0 || !Number.isInteger(plant)) return undefined;
  return (n % shards) + placeOf(Math.floor(plant / shards)) * shards;
}

/** Whether a value is a spike. */
export function isSpike(/** @type {number} */ value) {
  return value > levelsEnd + noiseWidth;
}

/** How an anomaly is matched with a plant. */
export function pairKey(/** @type {{service_id: string, metric_name: string}} */ { service_id, metric_name }) {
  return `${service_id} ${metric_name}`;
}

/** The bodies, 2,000 samples each of as many series, one second apart. */
export function plantedBodies(/** @type {Planting & {endMs: number, plants?: number}} */ { endMs, plants = plantsUsual, ...planting }) {
  const layout = layoutOf(planting);
  const { series, every, shards } = layout;
  const random = seededRandom(45);
  const rounds = new Uint32Array(series);
  let request;
  let planted;
  const values = (i) => {
    const n = (rounds[i]++ - quietRounds) * shards + (i % shards);
    if (n !== request) planted = plantedSeries(n, layout);
    request = n;
    return levelOf(i) + (random() - 0.5) * noiseWidth + (i === planted ? spikeHeight : 0);
  };
  const warmRequests = Math.max(0, plants - coldPlantCount) * every;
  const samples = (quietRounds + Math.ceil((coldRequestsOf(planting) + warmRequests) / shards)) * series;
  return remoteWriteBodies({ series, perRequest, samples, values, endMs });
}

function placeOf(round) {
  return (round * placeStep) % perRequest;
}

function levelOf(i) {
  return 100 + (i % (levelsEnd - 100));
}

function nameOf(i) {
  const { __name__: metric_name, service_id } = Object.fromEntries(seriesLabels(i));
  return { service_id, metric_name };
}
