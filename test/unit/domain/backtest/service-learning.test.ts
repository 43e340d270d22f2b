// Trainings on the way through history: which there are, and what each knows of what came before it, and of nothing later.
import { describe, expect, it } from "vitest";
import { ServiceLearning, type ServiceLearningOptions } from "../../../../src/domain/backtest/tracks/service-learning.ts";
import { ServiceTrack } from "../../../../src/domain/backtest/tracks/service-track.ts";
import type { TrainingJob, TrainingResult } from "../../../../src/domain/detection/multivariate/service-training.ts";
import { decodeTrainingRows, encodeTrainingRows } from "../../../../src/domain/detection/multivariate/training-rows-coding.ts";

const COLUMNS = { names: ["a", "b"], aggregations: Uint8Array.from([1, 1]), starts: Uint16Array.from([0, 1, 2]) };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const START_MS = Date.UTC(2026, 0, 5);
const HASH = "ab".repeat(16);

/** A service of two metrics with a value an hour for so many days, and what its trainings were told. */
function learning(days: number, options: Partial<ServiceLearningOptions> = {}, answer: Partial<TrainingResult> = {}) {
  const times = Float64Array.from({ length: 24 * days }, (_, hour) => START_MS + (hour * DAY_MS) / 24);
  const streams = [times, times].map((each) => ({ times: each, values: each }));
  const jobs: TrainingJob[] = [];
  const train = async (job: TrainingJob): Promise<TrainingResult> => {
    jobs.push(job);
    return { rows: 5_000, model: null, state: null, isRefused: true, retained: Uint8Array.of(jobs.length), ...answer };
  };
  const history = { streams, starts: Uint16Array.of(0, 1, 2), aggregations: Uint8Array.of(1, 1) };
  return { jobs, trainings: new ServiceLearning(history, { intervalMs: MINUTE_MS, hash: HASH, train, mayTrain: () => true, ...options }) };
}

const track = () => new ServiceTrack({ tenant: "default", environment: "", serviceId: "shop", hash: HASH }, COLUMNS);
const daysOf = ({ toMs }: TrainingJob) => (toMs - START_MS) / DAY_MS;

describe("trainings on the way through history", () => {
  it("begin where history is older than one of them looks back, each with what the one before has kept", async () => {
    const { jobs, trainings } = learning(30, { historyMs: 7 * DAY_MS });
    await trainings.learnBefore(START_MS + 24 * DAY_MS);
    for (let day = 24; day < 30; day++) await trainings.visit(START_MS + day * DAY_MS, track());
    expect(jobs.map(daysOf)).toEqual([7, 14, 21, 24, 26, 28]);
    expect(jobs.map(({ past }) => past?.rows)).toEqual([undefined, ...[1, 2, 3, 4, 5].map((number) => Uint8Array.of(number))]);
    for (const job of jobs) expect(job.streams[0]?.times[0]).toBeGreaterThanOrEqual(job.toMs - 7 * DAY_MS);
  });

  it("are one at the beginning where all of history is looked back on, and again when it has doubled", async () => {
    const { jobs, trainings } = learning(3, {}, { rows: 300 });
    await trainings.learnBefore(START_MS + DAY_MS);
    for (let minute = 0; minute < 700; minute++) await trainings.visit(START_MS + DAY_MS + minute * MINUTE_MS, track());
    expect(jobs.map((job) => Math.round((job.toMs - START_MS - DAY_MS) / MINUTE_MS))).toEqual([0, 300, 600]);
  });

  it("know vectors that a server has kept, but none of later than the beginning", async () => {
    const times = Float64Array.from({ length: 10 }, (_, day) => START_MS + day * DAY_MS);
    const kept = encodeTrainingRows({ times, values: new Float64Array(20).fill(3), width: 2 });
    const { jobs, trainings } = learning(10, { retained: kept });
    await trainings.learnBefore(START_MS + 4 * DAY_MS);
    await trainings.visit(START_MS + 4 * DAY_MS, track());
    expect(decodeTrainingRows(jobs[0]?.past?.rows as Uint8Array, 2)?.times).toEqual(times.slice(0, 4));
  });

  it("leave out episodes and what people have called an incident, as far as these have begun", async () => {
    const incidents = [
      [START_MS + DAY_MS, START_MS + 3 * DAY_MS],
      [START_MS + 5 * DAY_MS, START_MS + 6 * DAY_MS],
    ] as const;
    const { jobs, trainings } = learning(10, { incidents });
    await trainings.learnBefore(START_MS + 2 * DAY_MS);
    await trainings.visit(START_MS + 2 * DAY_MS, track());
    const episode = { startedAtMs: START_MS + 2.5 * DAY_MS, observedAtMs: START_MS + 2.5 * DAY_MS };
    // biome-ignore lint/suspicious/noExplicitAny: nothing else of the frame is read
    trainings.note({ ...episode, transition: "open" } as any);
    // biome-ignore lint/suspicious/noExplicitAny: as above
    trainings.note({ ...episode, observedAtMs: START_MS + 2.6 * DAY_MS, transition: "close" } as any);
    await trainings.visit(START_MS + 4 * DAY_MS, track());
    expect(jobs[0]?.past?.excluded).toEqual([[START_MS + DAY_MS, START_MS + 2 * DAY_MS]]);
    expect(jobs[1]?.past?.excluded).toEqual([[START_MS + 2.5 * DAY_MS, START_MS + 2.6 * DAY_MS], incidents[0]]);
  });
});
