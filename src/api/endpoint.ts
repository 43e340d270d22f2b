// What an endpoint is: everything that the router, the role check, the validation, the OpenAPI document and the tests of roles and tenants read of it.
import type { z } from "zod";
import type { Role } from "../core/protocol/query.ts";
import type { ErrorCode } from "./refusal.ts";

/** Who may call: anybody; who may write telemetry; or this role and those above it. */
export type EndpointAccess = "public" | "ingest" | Role;

/** Which actor answers. */
export type EndpointHandler = "front" | "engine" | "coordinator" | "query";

/** A body that is not JSON by the schema of `body`: telemetry on its way in, text and events on their way out. */
export interface MediaBody {
  readonly mediaType: string;
  /** Contents, in a sentence. */
  readonly holds: string;
  /** Where it is JSON. */
  readonly schema?: z.ZodType;
  readonly example?: unknown;
}

/** One endpoint. Query schemas take the decoded query as an object of strings. */
export interface Endpoint {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parameters stand in braces and take one whole segment: /api/v1/anomalies/{id}. */
  readonly path: string;
  /** Its last segment may be a name too: other methods of the path are of what has that name. */
  readonly isBesideNames?: true;
  readonly access: EndpointAccess;
  readonly handledBy: EndpointHandler;
  /** Form of its errors where it is not the usual one. */
  readonly envelope?: "prometheus";
  /** What machines send besides telemetry: where senders show certificates, these do too. */
  readonly isOfSender?: true;
  readonly query: z.ZodObject;
  /** Schema of the JSON body of the coordinator's endpoints; absent where none is taken. Strict, so that no member is set that none of these names. */
  readonly body?: z.ZodType;
  /** No body at all stands for an empty object. */
  readonly bodyOptional?: true;
  /** Media types of the body where it is other than JSON; `body` is then a schema of its text. */
  readonly bodyTypes?: readonly string[];
  /** Bytes that a body may have, where OBJECT_BODY_BYTES_MAX is too few. */
  readonly bodyBytesMax?: number;
  /** A body that is an array alone stands for an object with this member. */
  readonly bodyArrayMember?: string;
  /** Milliseconds until the coordinator has answered at the latest, where 15 seconds are too few. */
  readonly answerMsMax?: number;
  /** It answers from what is stored: what the engines have sent is committed before, so that a sender finds what it was answered for. */
  readonly answersCommitted?: true;
  /** The front sends along what it knows of shared limits: the caller's own usage, or refusals of all tenants. */
  readonly needsShares?: "own" | "refusals";
  /** It takes long whoever else asks, and is bounded in another way: others go first. */
  readonly isPatient?: true;
  /** A body may hold halves of surrogate pairs: whoever handles it replaces them, as a refusal would lose the whole request. */
  readonly bodyHalves?: true;
  /** Bodies that the engines read, in place of `body`. */
  readonly takes?: readonly MediaBody[];
  /** Headers of the request besides those of every request, and what each is for. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Description of each parameter of the path. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Schema of the JSON body of each success by its status, null where there is no body, and of other answers that are not errors. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>;
  /** The same for answers that may be other than JSON. */
  readonly media?: Readonly<Record<number, readonly MediaBody[]>>;
  /** Error codes besides those that follow from access, query and body (error-codes.ts). */
  readonly errors?: readonly ErrorCode[];
  /** Example that stands in the documentation, and is tested. */
  readonly examples?: { readonly body?: unknown; readonly response?: unknown };
  readonly summary: string;
}
