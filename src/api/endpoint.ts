// What an endpoint is: everything that the router, the role check, the validation and (later) OpenAPI read of it.
import type { z } from "zod";

/** Who may call: anybody; who may read (viewer and above); who may write telemetry; operators; admins. */
export type EndpointAccess = "public" | "read" | "ingest" | "operate" | "administer";

/** Which actor answers. */
export type EndpointHandler = "front" | "engine" | "coordinator";

/** One endpoint. Query schemas take the decoded query as an object of strings. */
export interface Endpoint {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parameters stand in braces and take one whole segment: /api/v1/anomalies/{id}. */
  readonly path: string;
  readonly access: EndpointAccess;
  readonly handledBy: EndpointHandler;
  readonly query: z.ZodObject;
  readonly summary: string;
}
