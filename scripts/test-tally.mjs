// A vitest reporter that appends one JSON line per event to the file TEST_TALLY_PATH, at once: a crash loses nothing that came before it.
// Lines: {kind: "file-start" | "file-end" | "test" | "error" | "end", where?, name?, state?, error?}; scripts/run-tests.mjs reads them.
import { appendFileSync } from "node:fs";
import { relative } from "node:path";

const errorCharsMax = 300;

export default class TestTally {
  #reported = new Set();

  onTestModuleStart(testModule) {
    write({ kind: "file-start", where: relative(process.cwd(), testModule.moduleId) });
  }

  onTestCaseResult(testCase) {
    if (this.#reported.has(testCase.id)) return; // vitest may tell the result of a test once more behind the end of its module
    this.#reported.add(testCase.id);
    const { state, errors, note } = testCase.result();
    write({ kind: "test", where: place(testCase), name: testCase.fullName, state, error: firstLine(errors) || note });
  }

  onTestModuleEnd(testModule) {
    const where = relative(process.cwd(), testModule.moduleId);
    // vitest passes over tests that it failed while collecting, such as a forbidden `.only`
    for (const test of testModule.children.allTests()) if (!this.#reported.has(test.id)) this.onTestCaseResult(test);
    for (const error of testModule.errors()) write({ kind: "error", where, name: "file", error: firstLine([error]) });
    for (const suite of testModule.children.allSuites()) {
      const error = firstLine(suite.errors());
      if (error) write({ kind: "error", where: place(suite), name: suite.fullName, error });
    }
    write({ kind: "file-end", where });
  }

  onTestRunEnd(_testModules, unhandledErrors, reason) {
    for (const error of unhandledErrors)
      write({ kind: "error", where: "outside a test", name: error.name ?? "Error", error: firstLine([error]) });
    if (reason !== "interrupted") write({ kind: "end" });
  }
}

function write(tally) {
  const path = process.env.TEST_TALLY_PATH;
  if (path) appendFileSync(path, `${JSON.stringify(tally)}\n`);
}

function place(task) {
  const path = relative(process.cwd(), task.module.moduleId);
  return task.location ? `${path}:${task.location.line}` : path;
}

/** The first line of the first error's message, without terminal colours. */
function firstLine(errors) {
  const message = errors?.[0]?.message ?? "";
  const [line = ""] = message.split("\n");
  return line.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g"), "").slice(0, errorCharsMax);
}
