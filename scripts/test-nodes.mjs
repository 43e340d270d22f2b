// `make test-nodes`: the contract, ingestion and crash suites on the releases of Node in test/nodes, one after another; what a system's library is too old for (uWebSockets.js
// needs glibc 2.38 there) is skipped and does not count. The last line is "N passed, N failed", over all of them.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const SUITES = [
  "test/conformance/contract.test.ts",
  "test/conformance/ingestion.test.ts",
  "test/conformance/otlp.test.ts",
  "test/conformance/otlp-grpc.test.ts",
  "test/conformance/remote-write-2.test.ts",
  "test/unit/actors/front/inflation.test.ts",
  "test/fault/crash.test.ts",
];
const RESULT = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const folder = "test/nodes";
const total = { passed: 0, failed: 0 };
for (const name of Object.keys(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies)) {
  const node = join(folder, "node_modules", name, "bin/node");
  const { CI: _, ...environment } = process.env;
  const env = { CRASH_ROUNDS: "1", ...environment };
  const { stdout } = spawnSync(node, ["scripts/run-tests.mjs", ...SUITES], {
    env,
    encoding: "utf8",
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.stdout.write(stdout ?? "");
  const [, passed = 0, failed = 1] = RESULT.exec((stdout ?? "").trimEnd().split("\n").at(-1) ?? "") ?? [];
  console.log(`${name}: ${passed} passed, ${failed} failed\n`);
  total.passed += Number(passed);
  total.failed += Number(failed);
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
