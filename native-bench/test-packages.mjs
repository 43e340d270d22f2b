// Packages that benches share with the tests: they are in the lock of test/, since `make run` needs none of them.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const ofTests = createRequire(new URL("../test/package.json", import.meta.url));

/** Imports a package that the tests have. */
export function importOfTests(name) {
  return import(pathToFileURL(ofTests.resolve(name)).href);
}
