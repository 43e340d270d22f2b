// The API's description, made at the first request for it and kept: it does not change while the server runs.
import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { HttpHeaders } from "../../adapters/http/http-server.ts";
import { documentationPage, PAGE_POLICY } from "../../api/docs/page.ts";
import { openApiDocument } from "../../api/openapi/document.ts";
import { acceptedCodings, type FileRequest, isKnownTag } from "./file-request.ts";

/** An answer whose content has a validator. */
export interface DocumentAnswer {
  readonly status: 200 | 304;
  readonly headers: HttpHeaders;
  readonly body: string | Uint8Array;
}

interface StoredDocument {
  readonly headers: HttpHeaders;
  readonly tag: string;
  readonly body: string;
  /** The same in gzip. */
  readonly packed: Uint8Array;
}

const PAGE_HEADERS: HttpHeaders = [
  ["Content-Type", "text/html; charset=utf-8"],
  ["Content-Security-Policy", PAGE_POLICY],
  ["Referrer-Policy", "no-referrer"],
];
/** Headers of both. A cache asks each time: another version of the server has another document. */
const SHARED_HEADERS: HttpHeaders = [
  ["Cache-Control", "no-cache"],
  ["Vary", "Accept-Encoding"],
];
const packedBy = promisify(gzip);

/** /openapi.json and /docs. */
export class Documents {
  readonly #version: string;
  readonly #made = new Map<string, Promise<StoredDocument>>();

  constructor(version: string) {
    this.#version = version;
  }

  async openApi(request: FileRequest): Promise<DocumentAnswer> {
    const make = async () => store(JSON.stringify(await inSteps(openApiDocument(this.#version))), [["Content-Type", "application/json"]]);
    return answer(await this.#retained("openapi", make), request);
  }

  /** The documentation for people. */
  async page(request: FileRequest): Promise<DocumentAnswer> {
    const make = async () => {
      const document = await inSteps(openApiDocument(this.#version));
      return store(await inSteps(documentationPage(document)), PAGE_HEADERS);
    };
    return answer(await this.#retained("docs", make), request);
  }

  #retained(name: string, make: () => Promise<StoredDocument>): Promise<StoredDocument> {
    const retained = this.#made.get(name) ?? make();
    this.#made.set(name, retained);
    return retained;
  }
}

/** Requests have their turn between steps: whoever reads the documentation first holds up no telemetry. */
async function inSteps<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await turn();
  }
}

async function store(body: string, headers: HttpHeaders): Promise<StoredDocument> {
  const packed = new Uint8Array(await packedBy(body));
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  return { body, packed, tag, headers: [...headers, ...SHARED_HEADERS, ["ETag", tag]] };
}

function answer({ headers, tag, body, packed }: StoredDocument, { acceptEncoding, ifNoneMatch }: FileRequest): DocumentAnswer {
  if (isKnownTag(tag, ifNoneMatch)) return { status: 304, headers, body: "" };
  if (!acceptedCodings(acceptEncoding).has("gzip")) return { status: 200, headers, body };
  const weakened = headers.map(([name, value]) => [name, name === "ETag" ? `W/${value}` : value] as const);
  return { status: 200, headers: [...weakened, ["Content-Encoding", "gzip"]], body: packed };
}
