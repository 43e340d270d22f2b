/** The choice of the adapter, and the checksum before the native library. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpServer } from "../../src/adapters/http/http-engine.ts";
import { loadUwsLibrary, uwsBinaryFault, uwsBinaryName } from "../../src/adapters/http/uws/uws-library.ts";
import { echoHead, uwsMissing } from "../support/http-exchanges.ts";
import { HttpTestBench } from "../support/http-test-server.ts";

const bench = new HttpTestBench();
afterEach(() => bench.close());

describe("choosing the adapter", () => {
  const name = uwsBinaryName();
  const folder = mkdtempSync(join(tmpdir(), "vedette-uws-"));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.skipIf(uwsMissing !== undefined)("a binary that differs in one bit is not loaded", () => {
    const original = join(dirname(createRequire(import.meta.url).resolve("uWebSockets.js")), name);
    copyFileSync(original, join(folder, name));
    expect(uwsBinaryFault(folder)).toBeUndefined();
    const content = readFileSync(original);
    content[content.length - 1] = (content[content.length - 1] ?? 0) ^ 1;
    writeFileSync(join(folder, name), content);
    expect(uwsBinaryFault(folder)).toContain(`${name} has sha256`);
    expect(loadUwsLibrary(folder)).toMatchObject({ reason: expect.stringContaining("has sha256") });
  });

  it("a folder without the binary is a reason, not an exception", () => {
    expect(loadUwsLibrary(join(folder, "absent"))).toMatchObject({ reason: expect.stringContaining(name) });
  });

  it("node needs no reason; auto says why it is not uws", () => {
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    expect(createHttpServer("node", bench.options(), echoHead, log).engineName).toBe("node");
    const chosen = createHttpServer("auto", bench.options(), echoHead, log).engineName;
    expect([chosen, lines.length]).toEqual(uwsMissing === undefined ? ["uws", 0] : ["node", 1]);
  });
});
