// A call of gRPC as the front sees requests: the service's path as the one of OTLP over HTTP, metadata as headers, the message's coding as that of the body.

import type { IncomingHttpHeaders } from "node:http2";
import { ownMember } from "../../../core/collections/own-member.ts";
import type { HttpRequest } from "../http-server.ts";

/** https://github.com/open-telemetry/opentelemetry-proto/tree/main/opentelemetry/proto/collector */
const PATHS: ReadonlyMap<string, string> = new Map([
  ["/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", "/v1/metrics"],
  ["/opentelemetry.proto.collector.trace.v1.TraceService/Export", "/v1/traces"],
  ["/opentelemetry.proto.collector.logs.v1.LogsService/Export", "/v1/logs"],
]);
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000001 };

/** The peer of a connection. */
export interface GrpcPeer {
  readonly address: string;
  readonly hasClientCertificate: boolean;
}

/** Path of OTLP over HTTP for a method of gRPC; undefined where it is not served. */
export function otlpPathOf(method: string): string | undefined {
  return PATHS.get(method);
}

/** Timeout of the caller, ms; undefined where it does not say. */
export function timeoutMs(header: string | undefined): number | undefined {
  const [, digits, unit] = TIMEOUT.exec(header ?? "") ?? [];
  return digits === undefined || unit === undefined ? undefined : Number(digits) * (ownMember(UNIT_MS, unit) as number);
}

/** The head of a call. */
export class GrpcRequest implements HttpRequest {
  readonly method = "POST";
  readonly query = "";
  readonly version = "1.1";
  readonly isUnix = false;
  readonly path: string;
  readonly remoteAddress: string;
  readonly hasClientCertificate: boolean;
  readonly #headers: IncomingHttpHeaders;
  /** Encoding of the message; undefined where it came as it is. */
  encoding: string | undefined;

  constructor(path: string, headers: IncomingHttpHeaders, peer: GrpcPeer) {
    this.path = path;
    this.#headers = headers;
    this.remoteAddress = peer.address;
    this.hasClientCertificate = peer.hasClientCertificate;
  }

  header(name: string): string | undefined {
    if (name === "content-type") return "application/x-protobuf";
    if (name === "content-encoding") return this.encoding;
    if (name === "host") return this.#headers[":authority"] ?? this.#headers.host;
    const value = ownMember(this.#headers, name);
    return Array.isArray(value) ? value.join(", ") : value;
  }

  findHeader(test: (name: string) => boolean): string | undefined {
    return Object.keys(this.#headers).find((name) => !name.startsWith(":") && test(name));
  }
}
