// Catalogs in YAML and JSON: whatever comes, each entity gives a label that may be one or a reason, in the order of the text, prototypes stay as they are,
// and documents are cut and read as the library does over the whole stream.
import { parseAllDocuments } from "yaml";
import { finished } from "../../../src/core/fairness/serial-work.ts";
import { CatalogError, type CatalogFormat, isLabel, type PlacedEntity, readCatalog } from "../../../src/domain/catalog/catalog-reader.ts";
import { readYaml, yamlTexts } from "../../../src/domain/catalog/yaml-documents.ts";
import { isName } from "../../../src/domain/series/name-rule.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { attempt, type FuzzTarget, magnitude, must, textTokens } from "../target.ts";

const TOKENS = [
  "---\n",
  "...\n",
  "kind: ",
  "Component",
  "metadata:\n  name: ",
  "spec:\n  owner: ",
  "group:",
  "user:",
  "/",
  "default",
  "__proto__: ",
  "&a ",
  "*a",
  "!!str ",
  "!t ",
  "%YAML 1.2\n",
  "|\n  ",
  ">-\n",
  "[",
  "{",
  "? ",
  "- ",
  "# ",
  "\t",
  "'",
  '"',
  "\r\n",
  "\ufeff",
  "<<: ",
];
const names = Object.getOwnPropertyNames(Object.prototype).join();
const textOf = (input: Uint8Array) => Buffer.from(input.buffer, input.byteOffset, input.length).toString("utf8");

function judge(entities: readonly PlacedEntity[]): number {
  let labels = 0;
  entities.forEach(({ index, line, entity }, place) => {
    must(index === place, `entity ${index} in place ${place}`);
    const before = entities[place - 1]?.line ?? 0;
    must(line === null || line >= before, `line ${line} behind line ${before}`);
    if (isLabel(entity)) {
      labels++;
      must(isName(entity.name) && isName(entity.value), "a label that may be none");
      must(entity.key === "team" || entity.key === "owner", `a label ${entity.key}`);
    } else must(entity.message !== "", `${entity.reason} without a message`);
  });
  must(new Set(entities.filter(({ entity }) => isLabel(entity)).map(({ entity }) => entity.name)).size === labels, "a service twice");
  must(Object.getOwnPropertyNames(Object.prototype).join() === names, "a prototype was changed");
  return labels;
}

function check(input: Uint8Array, format: CatalogFormat): number {
  const entities = attempt(() => [...readCatalog(textOf(input), format)].filter((entity) => entity !== null), CatalogError);
  if (entities === undefined) return -1 - magnitude(input.length);
  const labels = judge(entities);
  return labels === 0 ? -20 - Math.min(9, entities.length) : labels * 16 + Math.min(15, entities.length);
}

/** Values of a stream that the library finds nothing wrong with; undefined for others. */
function twin(text: string): unknown[] | undefined {
  const documents = parseAllDocuments(text, {
    version: "1.2",
    schema: "core",
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  if (!Array.isArray(documents) || documents.some(({ errors, warnings }) => errors.length + warnings.length > 0)) return undefined;
  return attempt(() => documents.map((document) => document.toJS({ maxAliasCount: 50 }) as unknown), ReferenceError, Error);
}

/** YAML, of one or several documents. */
export function yamlCatalogTarget(): FuzzTarget {
  const checkYaml = (input: Uint8Array): number => {
    const text = textOf(input);
    // The library takes a carriage return without a newline at the end of a stream for content.
    const isPlain = !text.includes("%") && !text.includes("\ufeff") && !/\r(?!\n)/.test(text);
    const expected = input.length % 8 === 0 && isPlain ? twin(text) : undefined;
    if (expected !== undefined) {
      const values = [...yamlTexts(text)]
        .filter((found) => found !== null)
        .map((document) => finished(readYaml(document.text)))
        .map((read) => (read.ok ? read.value : read.message));
      const shown = (list: readonly unknown[]) => JSON.stringify(list.filter((value) => value !== null));
      must(shown(values) === shown(expected), `${shown(values)} where the library reads ${shown(expected)}`);
    }
    return check(input, "yaml");
  };
  return { name: "catalog-yaml", bytesMax: 768, tokens: textTokens(...TOKENS), write: writeYaml, check: checkYaml };
}

/** JSON. */
export function jsonCatalogTarget(): FuzzTarget {
  return { name: "catalog-json", bytesMax: 768, tokens: textTokens(...TOKENS), write: writeJson, check: (input) => check(input, "json") };
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)] as T;
const ownerOf = (random: Random) =>
  `${pick(random, ["", "", "group:", "user:"])}${pick(random, ["", "", "default/", "retail/"])}t${random.below(9)}`;

function writeYaml(out: InputWriter, random: Random): void {
  let text = random.oneIn(3) ? "---\n" : "";
  for (let count = random.between(1, 4); count > 0; count--) {
    const namespace = random.oneIn(4) ? "  namespace: retail\n" : "";
    const description = random.oneIn(3) ? "  description: |\n    some\n    --- text\n" : "";
    text += `apiVersion: backstage.io/v1alpha1\nkind: ${random.oneIn(5) ? "API" : "Component"}\nmetadata:\n  name: s${random.below(50)}\n${namespace}${description}spec:\n  type: service\n  owner: ${ownerOf(random)}\n`;
    if (count > 1) text += random.oneIn(4) ? "...\n---\n" : "---\n";
  }
  out.raw(Buffer.from(text));
}

function writeJson(out: InputWriter, random: Random): void {
  const entities = Array.from({ length: random.between(1, 4) }, () => ({
    kind: random.oneIn(5) ? "API" : "Component",
    metadata: { name: `s${random.below(50)}` },
    spec: { owner: ownerOf(random) },
  }));
  out.raw(Buffer.from(JSON.stringify(random.oneIn(3) ? { items: entities } : random.oneIn(3) ? entities[0] : entities)));
}
