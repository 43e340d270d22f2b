import { availableParallelism } from "node:os";
import { PATIENCE_MS } from "./test/support/patience.ts";

/** Vitest leaves a core to itself: on a machine with two, one of them would mostly have nothing to do. */
const WORKERS_MIN = 2;

// Without defineConfig: vitest stands with the tests' packages, below this folder.
export default {
  test: {
    include: ["test/**/*.test.ts"],
    // `make test-fast` finds modules again as they were transformed: a quarter of what files with short tests take. Its keys are the files' contents.
    experimental: { fsModuleCache: process.env.TEST_EXTENT === "fast" },
    isolate: false, // reading the modules anew for each file took half of the time
    maxWorkers: Math.max(WORKERS_MIN, availableParallelism() - 1),
    pool: "forks", // never threads: uWebSockets.js aborts a process whose worker ends while it owns a socket
    testTimeout: 3 * PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
};
