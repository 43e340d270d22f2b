// kill -9 while training jobs wait and run: after the start each of them is there and comes to an end that is true.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const JOBS = 10;
const MINUTES = 300;
const bench = new ServerBench();
afterAll(() => bench.close());

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly reason: string | null;
}

it("training jobs survive a kill, and one that ran says that it was interrupted", async () => {
  const folder = bench.dataFolder();
  const settings = { ENGINES: "1", DATA_DIR: folder };
  const server = await bench.start(settings);
  const authorization = `Bearer ${readFileSync(join(folder, "admin-token"), "utf8").trim()}`;
  // biome-ignore lint/suspicious/noExplicitAny: answers of all shapes
  const ask = async (origin: string, path: string, body?: unknown): Promise<any> => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${origin}/api/v1/${path}`, { ...sent, headers: { authorization, "content-type": "application/json" } });
    expect([path, response.status]).toEqual([path, response.status < 300 ? response.status : "a success"]);
    return response.json();
  };
  const start = Date.now() - MINUTES * 60_000;
  const records = Array.from({ length: 2 * MINUTES }, (_, n) => ({
    service_id: "shop",
    metric_name: n % 2 === 0 ? "load" : "queue",
    value: Math.sin(n),
    timestamp: new Date(start + Math.floor(n / 2) * 60_000).toISOString(),
  }));
  await ask(server.origin, "telemetry/batch", records);
  const body = { service_id: "shop", training_window_days: 1, model_type: "isolation_forest" };
  const taken: Job[] = await Promise.all(Array.from({ length: JOBS }, () => ask(server.origin, "ml/train", body)));
  const before: { jobs: Job[] } = await ask(server.origin, `ml/jobs?limit=${JOBS}`);
  expect(await server.kill()).toBe("SIGKILL");

  const again = await bench.start(settings);
  const { jobs } = await until(
    "all jobs come to an end",
    (): Promise<{ jobs: Job[] }> => ask(again.origin, `ml/jobs?limit=${JOBS}`),
    (answer) => answer.jobs.every(({ status }) => status !== "queued" && status !== "running"),
    { patienceMs: PATIENCE_MS },
  );
  expect(jobs.map(({ job_id }) => job_id).sort()).toEqual(taken.map(({ job_id }) => job_id).sort());
  // What had ended before the kill is as it was, one at most was interrupted, and all others have run to their end.
  const known = new Map(jobs.map((job) => [job.job_id, job]));
  for (const job of before.jobs) if (job.status === "succeeded" || job.status === "failed") expect(known.get(job.job_id)).toEqual(job);
  expect(jobs.filter(({ reason }) => reason?.startsWith("interrupted")).length).toBeLessThanOrEqual(1);
  expect(jobs.filter(({ status }) => status !== "succeeded" && status !== "failed")).toEqual([]);
});
