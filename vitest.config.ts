import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { PATIENCE_MS } from "./test/support/patience.ts";

/** Vitest leaves a core to itself: on a machine with two, one of them would mostly have nothing to do. */
const WORKERS_MIN = 2;

/** Ends its worker (V8 crashes, no message) behind other files of the suite, and never in a process of its own: seen on Node 20.20, cause not found yet. */
const ALONE = ["test/property/member-table.test.ts"];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...configDefaults.exclude, ...ALONE] } },
      { extends: true, test: { name: "alone", include: ALONE, isolate: true } },
    ],
    isolate: false, // reading the modules anew for each file took half of the time
    maxWorkers: Math.max(WORKERS_MIN, availableParallelism() - 1),
    pool: "forks", // never threads: uWebSockets.js aborts a process whose worker ends while it owns a socket
    testTimeout: 3 * PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
});
