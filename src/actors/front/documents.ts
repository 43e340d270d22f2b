// The API's description, made at the first request for it and kept: it does not change while the server runs.
import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import type { HttpHeaders } from "../../adapters/http/http-server.ts";
import { documentationPage, PAGE_POLICY } from "../../api/docs/page.ts";
import { openApiDocument } from "../../api/openapi/document.ts";

/** An answer whose content has a validator. */
export interface DocumentAnswer {
  readonly status: 200 | 304;
  readonly headers: HttpHeaders;
  readonly body: string;
}

interface StoredDocument {
  readonly headers: HttpHeaders;
  readonly tag: string;
  readonly body: string;
}

const PAGE_HEADERS: HttpHeaders = [
  ["Content-Type", "text/html; charset=utf-8"],
  ["Content-Security-Policy", PAGE_POLICY],
  ["Referrer-Policy", "no-referrer"],
];
/** Headers of both. A cache asks each time: another version of the server has another document. */
const SHARED_HEADERS: HttpHeaders = [["Cache-Control", "no-cache"]];

/** /openapi.json and /docs. */
export class Documents {
  readonly #version: string;
  readonly #made = new Map<string, Promise<StoredDocument>>();

  constructor(version: string) {
    this.#version = version;
  }

  /** The OpenAPI document; `ifNoneMatch` is the header of that name. */
  async openApi(ifNoneMatch: string | undefined): Promise<DocumentAnswer> {
    const make = async () => store(JSON.stringify(await inTurns(openApiDocument(this.#version))), [["Content-Type", "application/json"]]);
    return answer(await this.#kept("openapi", make), ifNoneMatch);
  }

  /** The documentation for people. */
  async page(ifNoneMatch: string | undefined): Promise<DocumentAnswer> {
    const make = async () => {
      const document = await inTurns(openApiDocument(this.#version));
      return store(await inTurns(documentationPage(document)), PAGE_HEADERS);
    };
    return answer(await this.#kept("docs", make), ifNoneMatch);
  }

  #kept(name: string, make: () => Promise<StoredDocument>): Promise<StoredDocument> {
    const kept = this.#made.get(name) ?? make();
    this.#made.set(name, kept);
    return kept;
  }
}

/** Requests have their turn between steps: whoever reads the documentation first holds up no telemetry. */
async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await turn();
  }
}

function store(body: string, headers: HttpHeaders): StoredDocument {
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  return { body, tag, headers: [...headers, ...SHARED_HEADERS, ["ETag", tag]] };
}

function answer({ headers, tag, body }: StoredDocument, ifNoneMatch: string | undefined): DocumentAnswer {
  return isKnownTag(tag, ifNoneMatch) ? { status: 304, headers, body: "" } : { status: 200, headers, body };
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
export function isKnownTag(tag: string, ifNoneMatch: string | undefined): boolean {
  const given = (ifNoneMatch ?? "").split(",").map((each) => each.trim().replace(/^W\//, ""));
  return given.includes(tag) || given.includes("*");
}
