// The list of races, test/races.json: tests that once passed only when they were run again. Each of them fails every run that it is in, until it is mended and
// taken out of the list by hand: a race that nobody has to look at stays for ever.
import { readFileSync, writeFileSync } from "node:fs";

const listPath = "test/races.json";

/** A test's name in the list: its file without the line, which moves, and its title. */
export function raceName({ where, name }) {
  return `${where.replace(/:\d+$/, "")}  ${name}`;
}

/** The list with the names of further races, each once and in order. */
export function withRaces(list, races) {
  return [...new Set([...list, ...races.map(raceName)])].sort();
}

/** One line for each test of a run that the list names, whether it passed now or not. */
export function listedFailures(list, tests) {
  const listed = new Set(list);
  const names = [...new Set(tests.map(raceName))].filter((name) => listed.has(name));
  return names.map((name) => `${name}: passed only when run again, in an earlier run; mend it, then take it out of ${listPath}`);
}

/** Reads the list. */
export function readRaces() {
  return JSON.parse(readFileSync(listPath, "utf8"));
}

/** Adds races to the list. */
export function noteRaces(races) {
  if (races.length > 0) writeFileSync(listPath, `${JSON.stringify(withRaces(readRaces(), races), null, 2)}\n`);
}
