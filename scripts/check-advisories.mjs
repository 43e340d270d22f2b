// Asks the registry for advisories against the locked packages that a server runs with. Where it cannot be asked (no network, a mirror without them) the check passes and
// says so; a grave advisory fails it.
import { spawnSync } from "node:child_process";
import { readAdvisories } from "./advisories.mjs";

const waitMsMax = 30_000;
const flags = ["--omit=dev", "--json", "--fetch-retries=0", `--fetch-timeout=${waitMsMax / 2}`];
const { stdout } = spawnSync("npm", ["audit", ...flags], { encoding: "utf8", timeout: waitMsMax, stdio: ["ignore", "pipe", "ignore"] });
const { failures, note } = readAdvisories(stdout ?? "");
for (const line of failures) console.log(line);
console.log(`advisories: ${note}`);
process.exitCode = failures.length > 0 ? 1 : 0;
