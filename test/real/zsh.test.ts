// Completion in a real zsh on a terminal of its own (zpty): as the file of a package, which runs at the first Tab, and evaluated.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { completionScript } from "../../src/cli/completion.ts";
import { PATIENCE_MS } from "../support/patience.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-zsh-"));
  writeFileSync(join(folder, "_vedette"), completionScript("zsh"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What the line has become after one Tab, up to what is waited for. */
function completed(setUp: string, typed: string, awaited: string): string {
  const script = `zmodload zsh/zpty; zpty z zsh -f -i
zpty -w z ${quoted(`${setUp}; stty cols 200 rows 50; bindkey '^I' complete-word; PS1='' ; echo REA''DY`)}
zpty -r z text '*READY*'
zpty -w -n z $'${typed}\\t'
zpty -r z text ${quoted(`*${awaited}*`)}
print -r -- "$text"; zpty -d z`;
  return execFileSync("zsh", ["-f", "-c", script], { encoding: "utf8", timeout: PATIENCE_MS, env: { ...process.env, TERM: "dumb" } });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

it("completes commands, second words, options and values at the first Tab, as a file and evaluated", () => {
  const asFile = `fpath=(${folder} $fpath); autoload -U compinit && compinit -u -D`;
  const evaluated = `autoload -U compinit && compinit -u -D; eval "$(<${folder}/_vedette)"`;
  for (const setUp of [asFile, evaluated]) {
    expect(completed(setUp, "vedette sil", "silence ")).toContain("vedette silence ");
    expect(completed(setUp, "vedette silence add --f", "--for ")).toContain("--for ");
    expect(completed(setUp, "vedette alerts --severity h", "high ")).toContain("--severity high ");
  }
});
