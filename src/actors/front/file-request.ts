// What a request for a file or a document says: which compressions it takes, and what it has already.
import type { HttpRequest } from "../../adapters/http/http-server.ts";

/** Parts of a request that decide on the answer. */
export interface FileRequest {
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** What a request says of it. */
export function fileRequest(head: HttpRequest): FileRequest {
  return { acceptEncoding: head.header("accept-encoding"), ifNoneMatch: head.header("if-none-match") };
}

/** Codings that a client takes, in lower case; those with a weight of 0 it does not (RFC 9110, 12.5.3). */
export function acceptedCodings(header: string | undefined): ReadonlySet<string> {
  const codings = new Set<string>();
  for (const part of (header ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim());
    if (name !== "" && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) codings.add(name);
  }
  return codings;
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
export function isKnownTag(tag: string, ifNoneMatch: string | undefined): boolean {
  const input = (ifNoneMatch ?? "").split(",").map((each) => each.trim().replace(/^W\//, ""));
  return input.includes(tag) || input.includes("*");
}
