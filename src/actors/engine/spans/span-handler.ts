// What a shard does with messages on spans: windows by service (span-aggregates.ts), callers and callees by trace (span-joins.ts).
import { BASE_LEAD_MS, SECTION_SPANS } from "../../../core/layout/row-frame.ts";
import { MESSAGE_JOIN, MESSAGE_JOIN_UNNAMED, MESSAGE_JOIN_UNTIMED } from "../../../domain/trace/join-message.ts";
import { MESSAGE_WINDOW, type ServiceName } from "../../../domain/window/window-message.ts";
import type { MessageArrival, MessageHandler } from "../shard/message-handler.ts";
import { SpanAggregates, type SpanAggregatesDependencies } from "./span-aggregates.ts";
import { PIECE_PENDING, SpanJoins, type SpanJoinsDependencies } from "./span-joins.ts";

export interface SpanHandlerDependencies
  extends Omit<SpanJoinsDependencies, "services" | "edges">,
    Pick<SpanAggregatesDependencies, "series"> {
  readonly windowShares: SpanAggregatesDependencies["shares"];
  readonly joinedServices: SpanJoinsDependencies["services"];
  readonly callEdges: SpanJoinsDependencies["edges"];
}

/** Kinds of messages on traces, of this build and those before. */
const JOIN_KINDS: readonly (number | undefined)[] = [MESSAGE_JOIN, MESSAGE_JOIN_UNNAMED, MESSAGE_JOIN_UNTIMED];

/** Handler of SECTION_SPANS. */
export class SpanHandler implements MessageHandler {
  readonly kind = SECTION_SPANS;
  readonly #aggregates: SpanAggregates;
  readonly #joins: SpanJoins;

  constructor(dependencies: SpanHandlerDependencies) {
    this.#aggregates = new SpanAggregates({ ...dependencies, shares: dependencies.windowShares });
    this.#joins = new SpanJoins({ ...dependencies, services: dependencies.joinedServices, edges: dependencies.callEdges });
  }

  take(partition: number, payload: Uint8Array, { baseMs, arrivalMs }: MessageArrival): void {
    const arrivalWallMs = baseMs + BASE_LEAD_MS;
    if (arrivalMs === 0) this.#aggregates.services.closeReplayed(arrivalWallMs);
    if (payload[0] === MESSAGE_WINDOW) this.#aggregates.take(partition, payload, arrivalWallMs);
    else if (JOIN_KINDS.includes(payload[0])) this.#joins.take(partition, payload, arrivalWallMs);
    else throw new Error(`messages on spans of kind ${payload[0]} are unknown to this build`);
  }

  /** Operations of a service that are known by name. */
  operationNames(partition: number, name: ServiceName): string[] {
    const aggregate = this.#aggregates.services.find(partition, name)?.aggregate;
    return aggregate === undefined ? [] : Array.from(aggregate.operations, (operation) => operation.name);
  }

  get dueMs(): number {
    return this.#aggregates.services.dueMs;
  }

  due(wallMs: number, monotonicMs: number): void {
    this.#aggregates.services.closeDue(wallMs, monotonicMs);
  }

  onInterval(wallMs: number): void {
    this.#joins.onInterval(wallMs);
  }

  save(partition: number): readonly Uint8Array[] {
    return [...this.#aggregates.services.save(partition), ...this.#joins.save(partition)];
  }

  restore(partition: number, piece: Uint8Array): void {
    if (piece[0] === PIECE_PENDING) this.#joins.restore(partition, piece);
    else this.#aggregates.services.restore(partition, piece);
  }
}
