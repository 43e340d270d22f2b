// What the headers of a remote-write request say, and those of its answer.
// 1.0: https://prometheus.io/docs/specs/prw/remote_write_spec/  2.0: https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/
// The message is distinguished by the `proto` parameter of Content-Type alone; the version headers and Content-Encoding say nothing more and may be absent. Content-Type may
// not, though old senders of 1.0 set none: a page of any site makes browsers send a body without one, and asks nobody (`no-cors`).
import type { HttpHeaders, HttpRequest } from "../../adapters/http/http-server.ts";
import { type Outcome, refused } from "../../api/refusal.ts";
import { BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2 } from "../../core/protocol/body-kind.ts";
import type { WrittenCounts } from "../../core/protocol/engine-control.ts";

const MEDIA_TYPE = "application/x-protobuf";
/** Messages by their names in lower case. */
const MESSAGES: ReadonlyMap<string, number> = new Map([
  ["prometheus.writerequest", BODY_REMOTE_WRITE_1],
  ["io.prometheus.write.v2.request", BODY_REMOTE_WRITE_2],
]);
const WRITTEN_HEADERS = [
  "X-Prometheus-Remote-Write-Samples-Written",
  "X-Prometheus-Remote-Write-Histograms-Written",
  "X-Prometheus-Remote-Write-Exemplars-Written",
] as const;
const NOTHING_WRITTEN: WrittenCounts = [0, 0, 0];

/** The kind of body that a Content-Type announces; undefined for another one. */
function kindOf(contentType: string | undefined): number | undefined {
  if (contentType === undefined) return undefined;
  if (contentType === MEDIA_TYPE) return BODY_REMOTE_WRITE_1;
  const [mediaType = "", ...parameters] = contentType.toLowerCase().split(";");
  if (mediaType.trim() !== MEDIA_TYPE) return undefined;
  const proto = parameters.map((parameter) => /^\s*proto\s*=\s*"?([^"]*?)"?\s*$/.exec(parameter)?.[1]).find((name) => name !== undefined);
  return proto === undefined ? BODY_REMOTE_WRITE_1 : MESSAGES.get(proto);
}

/** Whether a request is one of remote-write 2.0, by its Content-Type. */
export function isRemoteWrite2(request: HttpRequest): boolean {
  return kindOf(request.header("content-type")) === BODY_REMOTE_WRITE_2;
}

/** The kind of the body, or why it cannot be read. */
export function remoteWriteKind(request: HttpRequest): Outcome<number> {
  const contentType = request.header("content-type");
  const kind = kindOf(contentType);
  if (kind === undefined) {
    const known = `${MEDIA_TYPE}, with proto=prometheus.WriteRequest (the default) or proto=io.prometheus.write.v2.Request`;
    return refused(
      "unsupported_media_type",
      `Content-Type must be ${known}; got ${contentType === undefined ? "none" : JSON.stringify(contentType.slice(0, 100))}`,
    );
  }
  const encoding = request.header("content-encoding");
  if (encoding !== undefined && !/^\s*snappy\s*$/i.test(encoding))
    return refused("unsupported_media_type", `Content-Encoding must be snappy, got ${JSON.stringify(encoding.slice(0, 80))}`);
  return { ok: true, value: kind };
}

/** Headers that say what was written; remote-write 2.0 wants them on every answer. */
export function writtenHeaders(written: WrittenCounts = NOTHING_WRITTEN): HttpHeaders {
  return WRITTEN_HEADERS.map((name, index) => [name, String(written[index])] as const);
}
