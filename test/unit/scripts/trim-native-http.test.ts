/** What is left of the native HTTP behind an install: the files that the server knows, and all that is no native file. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const SCRIPT = resolve("scripts/trim-native-http.mjs");
const PACKAGE = "node_modules/uWebSockets.js";
const SOURCES = "src/adapters/http/uws";
let folder = "";

function put(path: string, text = ""): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function trim(): void {
  execFileSync(process.execPath, [SCRIPT], { cwd: folder, stdio: "pipe" });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-trim-"));
  put(`${SOURCES}/uws-library.ts`, 'const SUMS = { "uws_linux_x64_115.node": "a", "uws_linux_x64_127.node": "b" };');
});

afterEach(() => rmSync(folder, { recursive: true }));

it("deletes native files that the server does not know, and nothing else", () => {
  for (const name of ["uws_linux_x64_115.node", "uws_linux_x64_127.node", "uws_win32_x64_127.node", "uws_darwin_arm64_93.node", "uws.js"]) {
    put(`${PACKAGE}/${name}`);
  }
  put("node_modules/other/uws_win32_x64_127.node");
  trim();
  expect(readdirSync(join(folder, PACKAGE)).sort()).toEqual(["uws.js", "uws_linux_x64_115.node", "uws_linux_x64_127.node"]);
  expect(readdirSync(join(folder, "node_modules/other"))).toEqual(["uws_win32_x64_127.node"]);
});

it("is content where the optional package is missing", () => {
  expect(trim).not.toThrow();
});

it("deletes nothing where the sources name no file", () => {
  put(`${SOURCES}/uws-library.ts`, "");
  put(`${PACKAGE}/uws_linux_x64_115.node`);
  expect(trim).toThrow("names no native file");
  expect(readdirSync(join(folder, PACKAGE))).toEqual(["uws_linux_x64_115.node"]);
});
