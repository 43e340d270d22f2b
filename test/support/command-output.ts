// What a command writes, and its exit code, where it runs in the test's own process.
import { vi } from "vitest";

export interface CommandOutput {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs a command; whoever calls it restores the mocks behind each test. */
export function outputOf(command: () => number): CommandOutput {
  let [out, error] = ["", ""];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    error += text;
    return true;
  });
  const code = command();
  return { code, out, error };
}
