import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks", // never threads: uWebSockets.js aborts a process whose worker ends while it owns a socket
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
