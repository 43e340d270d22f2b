// Benches and scripts import what a build makes by its path: no compiler sees when that has moved or gone.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const IMPORT = /import\s*\{([^}]*)\}\s*from\s*"(?:\.\.\/)+dist\/([^"]+)\.js"/g;
const DYNAMIC = /const\s*\{([^}]*)\}\s*=\s*await import\("(?:\.\.\/)+dist\/([^"]+)\.js"\)/g;

/** The names that a module of src lacks of those that are imported from what is made of it. */
function missing(names: string, module: string): string[] {
  const path = `src/${module}.ts`;
  if (!existsSync(path)) return [path];
  const text = readFileSync(path, "utf8");
  const wanted = names.split(",").map((name) => (name.trim().split(/ as |:/)[0] as string).trim());
  return wanted.filter((name) => name !== "" && !new RegExp(`export[^;=]*\\b${name}\\b`).test(text)).map((name) => `${name} of ${path}`);
}

function files(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".mjs"));
  return paths.filter((name) => !name.includes("node_modules")).map((name) => join(folder, name));
}

it("what benches and scripts import of a build is there", () => {
  const imports = [...files("native-bench"), ...files("scripts")].flatMap((path) => {
    const text = readFileSync(path, "utf8");
    return [...text.matchAll(IMPORT), ...text.matchAll(DYNAMIC)].map(([, names, module]) => ({
      path,
      names: names as string,
      module: module as string,
    }));
  });
  expect(imports.length).toBeGreaterThan(10);
  expect(imports.flatMap(({ path, names, module }) => missing(names, module).map((name) => `${path}: ${name}`))).toEqual([]);
});
