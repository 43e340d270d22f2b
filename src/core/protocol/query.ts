// Typed calls from the front to the coordinator, and what comes back.

import type { FaultReport } from "../telemetry/fault-report.ts";
import type { LogEvent } from "../telemetry/log-event.ts";
import type { AccessChange, KeyScope, Role } from "./access.ts";
import type { DataFault } from "./data-fault.ts";
import type { OwnTelemetry, OwnTelemetryAnswer } from "./own-telemetry.ts";
import type { RuleFiles, RuleSamples, RuleSamplesTaken, RuleWorkDone, RuleWorkWanted } from "./rule-work.ts";
import type { SetAsideItem } from "./set-aside.ts";
import type { ShareRow } from "./shares.ts";
import type { SummaryWanted, SummaryWorded } from "./summary-wording.ts";

export type { Role } from "./access.ts";

/** Who asks. One object for all requests with the same credential, as long as that is remembered. */
export interface Principal {
  readonly tenant: string;
  /** `sub` of a token, `key:` and the id of an API key, or one of our own: local, admin-token. */
  readonly subject: string;
  readonly role: Role;
  /** Id of the API key; absent where the credential is none. */
  readonly keyId?: string;
  readonly scope?: KeyScope;
  /** Null = what the tenant's plan allows. */
  readonly rateLimitRps?: number | null;
}

export interface QueryCall {
  readonly type: "query";
  readonly id: number;
  /** Name of the endpoint in api/endpoints.ts. */
  readonly endpoint: string;
  readonly principal: Principal;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Text of the body; null for endpoints that take none. */
  readonly body: string | null;
  /** Content type of the body, in lower case without parameters. */
  readonly mediaType?: string;
  /** If-Match as it was sent; absent where it was not. */
  readonly ifMatch?: string;
  /** Address of the connection, of requests that may change something. */
  readonly address?: string;
  /** Usage of shared limits as the front knows it; for questions about them. */
  readonly shares?: readonly ShareRow[];
  /** Id of the request, as its answer names it where it fails; a change is found by it in the audit log. */
  readonly requestId: string;
}

export interface QueryAnswer {
  readonly type: "answer";
  readonly id: number;
  readonly status: number;
  readonly body: string;
}

/** Kinds of events of `GET /api/v1/stream`. */
export const STREAM_EVENT_NAMES = ["anomaly", "alert", "job", "status"] as const;
export type StreamEventName = (typeof STREAM_EVENT_NAMES)[number];

/** Events for `GET /api/v1/stream`: already serialised, one object a line of `data:`. Tenant null: for the readers of all. */
export interface StreamEvents {
  readonly type: "events";
  readonly events: ReadonlyArray<{ readonly event: StreamEventName; readonly tenant: string | null; readonly data: string }>;
  /** Monotonic arrival of the bytes behind each anomaly that is new among them. */
  readonly arrivalsMs?: readonly number[] | undefined;
}

/** The same as the bytes that a tenant's readers are sent: what leaves the coordinator's thread. */
export interface StreamChunks {
  readonly type: "event-chunks";
  readonly chunks: readonly EventChunk[];
  readonly arrivalsMs?: readonly number[] | undefined;
}

/** Events of one name that follow each other, for the readers of a tenant, or of all (null). */
export interface EventChunk {
  readonly tenant: string | null;
  readonly event: StreamEventName;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Events in them. */
  readonly count: number;
}

/** Dead letters for an engine: the body of BODY_REPLAY or BODY_REPLAY_HISTORY. One at a time; it is answered by a ReplayAnswer. */
export interface ReplayBatch {
  readonly type: "replay-batch";
  readonly batch: number;
  readonly tenant: string;
  readonly isHistory: boolean;
  readonly body: Uint8Array;
}

/** Answer of an engine, or of the way to it, to a batch: 200 with a ReplayOutcome, or a refusal of the whole. */
export interface ReplayAnswer {
  readonly type: "replay-answer";
  readonly batch: number;
  readonly status: number;
  readonly body: string | null;
}

/** Letters of a batch by their place in it. */
export interface ReplayOutcome {
  readonly replayed: number;
  readonly failures: ReadonlyArray<{ readonly index: number; readonly reason: string }>;
}

/** Changes of tenants and credentials for the front: sent before the answer to the change that made them. */
export interface AccessMessage {
  readonly type: "access";
  readonly changes: readonly AccessChange[];
}

export type CoordinatorMessage =
  | QueryAnswer
  | AccessMessage
  | ReplayBatch
  | OwnTelemetry
  | RuleSamples
  | RuleWorkWanted
  | StreamEvents
  /** A cycle of the Watchdog has ended: how many have come to their end since the start. One that the disk refuses ends without. */
  | { readonly type: "cycle-ended"; readonly completed: number }
  | SummaryWanted
  /** Something is to be sent that needs the notifier, which may not run. */
  | { readonly type: "notifier-wanted" }
  /** The notifier gives no answer: its thread is to be ended, and another one started. */
  | { readonly type: "notifier-hung" }
  | ({ readonly type: "log" } & LogEvent)
  | FaultReport
  | { readonly type: "stopped" };

/** A port besides the main one: not wanted, open, or not to be had. */
export interface ListenerState {
  readonly state: "closed" | "listening" | "unavailable";
  readonly port: number;
}

/** Ports besides the main one. */
export interface Listeners {
  readonly otlp: ListenerState;
  readonly otlp_grpc: ListenerState;
  readonly alerts: ListenerState;
}

export type CoordinatorCommand =
  | QueryCall
  /** By the names of log segments of earlier starts: where the blocks end behind which a kill cut a write off. */
  | { readonly type: "engines-ready"; readonly tornEnds: ReadonlyMap<string, number> }
  | ReplayAnswer
  | OwnTelemetryAnswer
  | RuleFiles
  | RuleSamplesTaken
  | RuleWorkDone
  | SummaryWorded
  /** For the status. */
  | { readonly type: "listeners"; readonly listeners: Partial<Listeners> }
  /** Something that is stored cannot be read; one that is known is passed over. */
  | { readonly type: "data-fault"; readonly fault: DataFault }
  /** Something that was taken is left out. */
  | { readonly type: "set-aside"; readonly item: SetAsideItem }
  | { readonly type: "stop" };
