// The longest chain of modules, for check-house.mjs: a module stands one floor above the highest that it imports, and a newcomer reads them all to the ground.
import { dirname, join } from "node:path";

const MODULE = /^src\/modules\/([^/]+)\//;
const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** Returns the modules that each module imports, from {path, text} of files. */
export function importedModules(files) {
  const imported = new Map();
  for (const { path, text } of files) {
    const module = MODULE.exec(path)?.[1];
    if (module === undefined) continue;
    const others = imported.get(module) ?? imported.set(module, new Set()).get(module);
    for (const [, to] of text.matchAll(IMPORT)) {
      const other = MODULE.exec(join(dirname(path), to))?.[1];
      if (other !== undefined && other !== module) others.add(other);
    }
  }
  return imported;
}

/** Returns the longest chain of modules, the highest first; modules may not import each other in circles. */
export function longestChain(imported) {
  const chains = new Map();
  const chainOf = (module) => {
    if (!chains.has(module)) {
      const below = [...(imported.get(module) ?? [])].map(chainOf);
      const longest = below.reduce((most, chain) => (chain.length > most.length ? chain : most), []);
      chains.set(module, [module, ...longest]);
    }
    return chains.get(module);
  };
  return [...imported.keys()].map(chainOf).reduce((most, chain) => (chain.length > most.length ? chain : most), []);
}
