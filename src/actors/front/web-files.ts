// The UI's files as the build left them (dist/web), read at the start: about 40 files, 300 kB with their compressed twins. Names hold a hash of the content, so
// that browsers keep them; the page itself is asked for each time.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HttpHeaders } from "../../adapters/http/http-server.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { acceptedCodings, type FileRequest, isKnownTag } from "./file-request.ts";

/** An answer of bytes. */
export interface FileAnswer {
  readonly status: 200 | 304;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array | string;
}

interface StoredFile {
  readonly headers: HttpHeaders;
  readonly tag: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array | undefined;
  readonly brotli: Uint8Array | undefined;
}

const PAGE = "page.html";
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Nothing from elsewhere, no script in the page, and no text that becomes markup: the one policy of Trusted Types makes the address of the stream's worker. */
export const UI_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types vedette",
].join("; ");

const SHARED_HEADERS: HttpHeaders = [
  ["Vary", "Accept-Encoding"],
  ["Referrer-Policy", "same-origin"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
];
const PAGE_HEADERS: HttpHeaders = [
  ["Content-Security-Policy", UI_POLICY],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Permissions-Policy", "camera=(), microphone=(), geolocation=()"],
  ["Cache-Control", "no-cache"],
];
const RETAINED_HEADERS: HttpHeaders = [["Cache-Control", "public, max-age=31536000, immutable"]];

/** The files of one build. */
export class WebFiles {
  readonly #files: ReadonlyMap<string, StoredFile>;

  /** Reads a folder; one that is not there has no files. */
  constructor(folder: string) {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const own = names.filter((name) => ownMember(MEDIA_TYPES, extension(name)) !== undefined);
    this.#files = new Map(own.map((name) => [name, readStored(folder, name, new Set(names))]));
  }

  /** The files that were built beside this one: dist/web. */
  static ofBuild(): WebFiles {
    return new WebFiles(fileURLToPath(new URL("../../web/", import.meta.url)));
  }

  page(request: FileRequest): FileAnswer | undefined {
    return this.file(PAGE, request);
  }

  /** A file by its name; undefined where there is none. */
  file(name: string, { acceptEncoding, ifNoneMatch }: FileRequest): FileAnswer | undefined {
    const file = this.#files.get(name);
    if (file === undefined) return undefined;
    if (isKnownTag(file.tag, ifNoneMatch)) return { status: 304, headers: file.headers, body: "" };
    const accepted = acceptedCodings(acceptEncoding);
    if (file.brotli !== undefined && accepted.has("br")) return encoded(file, "br", file.brotli);
    if (file.gzip !== undefined && accepted.has("gzip")) return encoded(file, "gzip", file.gzip);
    return { status: 200, headers: file.headers, body: file.plain };
  }
}

function encoded(file: StoredFile, coding: string, body: Uint8Array): FileAnswer {
  return { status: 200, headers: [...file.headers, ["Content-Encoding", coding]], body };
}

function readStored(folder: string, name: string, names: ReadonlySet<string>): StoredFile {
  const read = (file: string) => (names.has(file) ? new Uint8Array(readFileSync(join(folder, file))) : undefined);
  const plain = read(name) as Uint8Array;
  const tag = `W/"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  const type = ["Content-Type", ownMember(MEDIA_TYPES, extension(name)) as string] as const;
  const headers: HttpHeaders = [type, ["ETag", tag], ...SHARED_HEADERS, ...(name === PAGE ? PAGE_HEADERS : RETAINED_HEADERS)];
  return { headers, tag: tag.slice(2), plain, gzip: read(`${name}.gz`), brotli: read(`${name}.br`) };
}

function extension(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}
