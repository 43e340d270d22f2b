// Every package of package-lock.json, and of the one of tests, has an integrity hash: npm installs what was locked, or nothing.
import { readFileSync } from "node:fs";

const locks = ["package-lock.json", "test/package-lock.json"];
const packages = locks.flatMap((path) => Object.entries(JSON.parse(readFileSync(path, "utf8")).packages));
const entries = packages.filter(([path, { link }]) => path !== "" && !link);
const open = entries.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ""));
for (const [path, { version }] of open)
  console.log(`${path} ${version} has no sha512 integrity; npm view NAME@VERSION dist.integrity tells it`);
console.log(`${entries.length} packages`);
process.exitCode = entries.length === 0 || open.length > 0 ? 1 : 0;
