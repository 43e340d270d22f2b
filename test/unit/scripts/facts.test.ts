/** Facts of the house are found by their names: each in scripts/facts.json has the words that one searches for first, and the file that is meant. */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, it } from "vitest";

const FACTS = "scripts/facts.json";
const STEPS_MAX = 3;
/** A list of more names is not read, but searched anew. */
const NAMES_READ_MAX = 20;

interface Fact {
  readonly question: string;
  /** Searched one after the other, each in the names of the files of src. */
  readonly words: readonly string[];
  readonly file: string;
  /** What stands in the file and shows that it is meant. */
  readonly mark: string;
  /** Words until the file is among the names. */
  readonly steps: number;
}

const FACTS_KNOWN = JSON.parse(readFileSync(FACTS, "utf8")) as readonly Fact[];
const NAMES = readdirSync("src", { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.parentPath.includes("generated"))
  .map(({ name }) => name);

/** Returns the step at which a search of names finds the file, or undefined where none does. */
function stepsTo({ words, file }: Pick<Fact, "words" | "file">): number | undefined {
  const index = words.findIndex((word) => {
    const found = NAMES.filter((name) => name.includes(word));
    return found.length <= NAMES_READ_MAX && found.includes(basename(file));
  });
  return index < 0 ? undefined : index + 1;
}

it("has thirty facts or more, each asked once", () => {
  expect(FACTS_KNOWN.length).toBeGreaterThanOrEqual(30);
  expect(new Set(FACTS_KNOWN.map(({ question }) => question)).size).toBe(FACTS_KNOWN.length);
});

it.each(FACTS_KNOWN)("$question", (fact) => {
  expect(readFileSync(fact.file, "utf8")).toContain(fact.mark);
  expect(stepsTo(fact)).toBe(fact.steps);
  expect(fact.steps).toBeLessThanOrEqual(STEPS_MAX);
});

it("does not find what no name says, nor what too many names say", () => {
  expect(stepsTo({ words: ["nowhere"], file: "src/main.ts" })).toBeUndefined();
  expect(stepsTo({ words: ["e"], file: "src/main.ts" })).toBeUndefined();
  expect(stepsTo({ words: ["nowhere", "main"], file: "src/main.ts" })).toBe(2);
});
