// Deletes what the server would never load of the native HTTP from node_modules (235 MB): the package brings a file for each system, processor and release of Node since 14.
// Those stay whose sum the server knows. usage: node scripts/trim-native-http.mjs, behind `npm ci`, which compared the whole package with the lock
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const folder = "node_modules/uWebSockets.js"; // optional: where it is missing, node:http does the work
const natives = /uws_\w+\.node/g;
const known = new Set(readFileSync("src/adapters/http/uws/uws-library.ts", "utf8").match(natives));
if (known.size === 0) throw new Error("src/adapters/http/uws/uws-library.ts names no native file");
const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.match(natives)) : [];
for (const name of names) if (!known.has(name)) rmSync(join(folder, name));
