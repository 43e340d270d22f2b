// jq, compiled to WebAssembly: it has no limits of its own, so that an endless program ends with its process.
import { loadJq } from "jq-wasm";
import type { Answer } from "../frames.ts";

export type Runner = (program: string, event: string) => Answer;

/** Runner of jq programs, once a first one has run. The first output counts. */
export async function jqRunner(): Promise<Runner> {
  const jq = await loadJq();
  const run: Runner = (program, event) => {
    // The blank keeps a program that begins with a minus from being an option; the line end ends a comment at its end.
    const { stdout, stderr, exitCode } = jq.raw(event, ` first(${program}\n)`, ["-c"]);
    if (exitCode !== 0 || stderr !== "")
      return { kind: "failed", text: stderr.trim() || `jq ended with code ${exitCode}`, line: lineOf(stderr) };
    const json = stdout.trim();
    return json === ""
      ? { kind: "dropped", text: "the jq program gave no output: the event is dropped", line: null }
      : { kind: "payload", text: json, line: null };
  };
  run(".", "{}");
  return run;
}

function lineOf(stderr: string): number | null {
  const found = /at <[^>]+>, line (\d+)/.exec(stderr);
  return found ? Number(found[1]) : null;
}
