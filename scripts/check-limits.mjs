// Part of `make check`: every maximum is one that tenants share, and then a ledger keeps it and somebody asks that ledger; or it says of what kind it is, so that a
// limit which one tenant can use up for others does not come in unseen.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LIMIT_KINDS } from "./limit-kinds.mjs";

/** Amounts and not places: times, lengths, shares of a thread, rates, bounds of one tenant, service, body, step ... */
const AMOUNT = /(_MS|_CHARACTERS|_SHARE|_MB|_SECONDS|_MINUTES|_HOURS|_DAYS|_PER_SECOND|_RATIO)_MAX$|_PER_[A-Z_]+_MAX$/;
const SHARED_LIMITS = "core/config/shared-limits.ts";

/** Names of all maxima of files with limits, by path. */
function maxima(files) {
  return [...files]
    .filter(([path]) => /limits\.ts$/.test(path) && path !== SHARED_LIMITS)
    .flatMap(([, text]) => [...text.matchAll(/^export const ([A-Z0-9_]+_MAX)\b/gm)].map(([, name]) => name));
}

/** Kinds by name; a name that stands twice has a fault. */
function declared(kinds, faults) {
  const found = new Map();
  for (const [kind, names] of Object.entries(kinds)) {
    for (const name of Array.isArray(names) ? names : Object.keys(names)) {
      if (found.has(name)) faults.push(`${name} is declared twice in scripts/limit-kinds.mjs`);
      found.set(name, kind);
    }
  }
  return found;
}

/** Limits of the tables of shared-limits.ts with the maxima that they name. */
function sharedLimits(text) {
  const rows = text.matchAll(/^ {2,4}([a-z_]+): (.*[A-Z0-9_]+_MAX\b.*|pairsMax|Math\.ceil\(servicesMax.*),$/gm);
  return [...rows].map(([, limit, value]) => ({ limit, names: value.match(/[A-Z0-9_]+_MAX\b/g) ?? [] }));
}

/** Whether code outside the tables asks for the ledger of a limit. */
function isKept(limit, files) {
  const spelled = [`"${limit}"`, `${limit.replace(/^(span|log)_/, "$" + "{items}_")}\``];
  return [...files].some(([path, text]) => !/^core\//.test(path) && spelled.some((one) => text.includes(one)));
}

/** Faults of the limits of a tree, a line each; `files` are texts by path below src. */
export function limitFaults(files, kinds = LIMIT_KINDS) {
  const faults = [];
  const known = declared(kinds, faults);
  const shared = sharedLimits(files.get(SHARED_LIMITS) ?? "");
  const sharedNames = new Set(shared.flatMap(({ names }) => names));
  const names = maxima(files);
  for (const name of names) {
    if (sharedNames.has(name) && known.has(name)) faults.push(`${name} is shared, and scripts/limit-kinds.mjs says that it is not`);
    if (sharedNames.has(name) || known.has(name) || AMOUNT.test(name)) continue;
    faults.push(
      `${name} is undeclared: can one tenant use it up for others? Then core/config/shared-limits.ts, else scripts/limit-kinds.mjs`,
    );
  }
  for (const name of known.keys()) if (!names.includes(name)) faults.push(`${name} of scripts/limit-kinds.mjs is gone`);
  for (const { limit } of shared) if (!isKept(limit, files)) faults.push(`${limit} is shared, and no ledger of it is asked for`);
  return faults;
}

/** The sources below a folder, by path. */
export function sourceFiles(folder) {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  return new Map(paths.map((path) => [path.replaceAll("\\", "/"), readFileSync(join(folder, path), "utf8")]));
}

if (process.argv[1]?.endsWith("check-limits.mjs")) {
  const files = sourceFiles("src");
  const faults = limitFaults(files);
  for (const fault of faults) console.log(fault);
  console.log(`limits: ${maxima(files).length} maxima, ${sharedLimits(files.get(SHARED_LIMITS)).length} of them shared`);
  process.exit(faults.length === 0 ? 0 : 1);
}
