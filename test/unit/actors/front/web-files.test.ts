import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { acceptedCodings } from "../../../../src/actors/front/file-request.ts";
import { UI_POLICY, WebFiles } from "../../../../src/actors/front/web-files.ts";

const SCRIPT = "console.log(1);".repeat(40);
let folder = "";
const headersOf = (answer: { headers: ReadonlyArray<readonly [string, string]> } | undefined) => Object.fromEntries(answer?.headers ?? []);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "web-files-"));
  writeFileSync(join(folder, "page.html"), "<!doctype html>");
  writeFileSync(join(folder, "app-ABC.js"), SCRIPT);
  writeFileSync(join(folder, "app-ABC.js.br"), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, "app-ABC.js.gz"), gzipSync(SCRIPT));
  writeFileSync(join(folder, "first-view.json"), "[]");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("files of the user interface", () => {
  it("answers in the best coding that the client takes, and names it", () => {
    const files = new WebFiles(folder);
    for (const [acceptEncoding, coding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["br;q=0, gzip", "gzip"],
      ["identity", undefined],
      [undefined, undefined],
    ] as const) {
      const answer = files.file("app-ABC.js", { acceptEncoding, ifNoneMatch: undefined });
      expect(headersOf(answer)["Content-Encoding"]).toBe(coding);
      expect(headersOf(answer).Vary).toBe("Accept-Encoding");
    }
    const brotli = files.file("app-ABC.js", { acceptEncoding: "br", ifNoneMatch: undefined })?.body as Uint8Array;
    expect(brotliDecompressSync(brotli).toString()).toBe(SCRIPT);
  });

  it("keeps hashed files for a year and asks for the page each time", () => {
    const files = new WebFiles(folder);
    const script = files.file("app-ABC.js", { acceptEncoding: undefined, ifNoneMatch: undefined });
    const page = files.page({ acceptEncoding: undefined, ifNoneMatch: undefined });
    expect(headersOf(script)["Cache-Control"]).toContain("immutable");
    expect(headersOf(page)["Cache-Control"]).toBe("no-cache");
    expect(headersOf(page)["Content-Security-Policy"]).toBe(UI_POLICY);
    expect(UI_POLICY).not.toMatch(/unsafe|\*|https?:/);
    const again = files.page({ acceptEncoding: undefined, ifNoneMatch: headersOf(page).ETag });
    expect(again).toMatchObject({ status: 304, body: "" });
  });

  it("has only what the build wrote for browsers", () => {
    const files = new WebFiles(folder);
    for (const name of ["first-view.json", "app-ABC.js.br", "../page.html", "none.js", ""]) {
      expect(files.file(name, { acceptEncoding: "br", ifNoneMatch: undefined })).toBeUndefined();
    }
    expect(new WebFiles(join(folder, "absent")).page({ acceptEncoding: "br", ifNoneMatch: undefined })).toBeUndefined();
  });

  it("reads weights of codings", () => {
    expect([...acceptedCodings("GZIP;q=0.5, br;q=0.0, *")]).toEqual(["gzip", "*"]);
  });
});
