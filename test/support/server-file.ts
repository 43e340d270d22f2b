/**
 * The server's file, for node: dist/main.js, or with TEST_SERVER another build of it. `JOINED=1 make test` names the one that scripts/build-joined.mjs
 * makes, which starts in half the processor time.
 */
export const SERVER_FILE = process.env.TEST_SERVER || "dist/main.js";
