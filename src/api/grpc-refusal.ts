// A call of gRPC that reaches a port of HTTP/1.1.
import { GRPC_ADVICE } from "../adapters/http/grpc/grpc-advice.ts";
import type { Refusal } from "./refusal.ts";

/** The refusal of a request by its Content-Type, with where to send it; undefined for what is no gRPC. */
export function refuseGrpc(request: { header(name: "content-type"): string | undefined }): Refusal | undefined {
  if (request.header("content-type")?.trim().toLowerCase().startsWith("application/grpc") !== true) return undefined;
  return { code: "unsupported_media_type", message: GRPC_ADVICE };
}
