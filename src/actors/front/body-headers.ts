// What the headers of a request say of its body.
import type { HttpRequest } from "../../adapters/http/http-server.ts";
import type { Refusal } from "../../api/refusal.ts";

/** Whether a request says that it has no body. */
export function hasNoBody(request: HttpRequest): boolean {
  return (request.header("content-length") ?? "0") === "0" && request.header("transfer-encoding") === undefined;
}

/** Media type of the body, in lower case without parameters; "" where none is told. */
export function mediaTypeOf(request: HttpRequest): string {
  return (request.header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Why a body is not taken for what its headers say of it; undefined where it is. */
export function refuseBodyHeaders(request: HttpRequest, mediaType: string, taken: readonly string[]): Refusal | undefined {
  const encoding = request.header("content-encoding") ?? "identity";
  if (!taken.includes(mediaType)) {
    const got = mediaType === "" ? "none" : JSON.stringify(mediaType.slice(0, 80));
    return { code: "unsupported_media_type", message: `Content-Type must be ${taken.join(" or ")}, got ${got}` };
  }
  if (/^identity$/i.test(encoding)) return undefined;
  return {
    code: "unsupported_media_type",
    message: `Content-Encoding must be identity here, got ${JSON.stringify(encoding.slice(0, 80))}`,
  };
}
