// Typed calls to the coordinator and their answers. At most QUERIES_WAITING_MAX wait, shared by tenants; the caller answers 503 beyond.
import { Requests } from "../../adapters/threads/requests.ts";
import { endpointNamed } from "../../api/endpoints.ts";
import { SHARE_REFUSALS_REPORTED_MAX } from "../../core/config/shared-limits.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { FrontSharedLimit } from "../../core/layout/counters.ts";
import type { CoordinatorCommand, QueryAnswer, QueryCall } from "../../core/protocol/query.ts";
import type { ShareRow } from "../../core/protocol/shares.ts";
import type { TenantShares } from "../../domain/access/tenant-shares.ts";

type OnQueryAnswer = (status: number, body: string) => void;

/** The longest query reads some 100,000 samples in under a second; engines are given 5 s. */
const ANSWER_MS_MAX = 15_000;

function lateAnswer(ms: number): Pick<QueryAnswer, "status" | "body"> {
  const message = `the coordinator did not answer within ${ms / 1000} s; try again shortly`;
  return { status: 503, body: JSON.stringify({ status: "error", error: "overloaded", message }) };
}

/** The front's end of the coordinator. */
export class QueryLink {
  readonly #send: (command: CoordinatorCommand) => void;
  readonly #shares: TenantShares<FrontSharedLimit>;
  readonly #requests = new Requests<QueryAnswer>();

  /** `shares` are those of the front. */
  constructor(send: (command: CoordinatorCommand) => void, shares: TenantShares<FrontSharedLimit>) {
    this.#send = send;
    this.#shares = shares;
  }

  get waiting(): number {
    return this.#requests.size;
  }

  /** Sends a call; false when too many wait. */
  call(call: Omit<QueryCall, "type" | "id">, onAnswer: OnQueryAnswer): boolean {
    const { tenant } = call.principal;
    if (!this.#places.take(tenant)) return false;
    const id = this.#requests.next();
    const { answerMsMax: ms = ANSWER_MS_MAX, needsShares } = endpointNamed(call.endpoint);
    const answered = ({ status, body }: Pick<QueryAnswer, "status" | "body">) => {
      this.#places.give(tenant);
      onAnswer(status, body);
    };
    this.#requests.add(id, ms, { answered, late: () => answered(lateAnswer(ms)) });
    const shares = needsShares && this.#reported(needsShares, tenant);
    this.#send({ type: "query", id, ...call, ...(shares !== undefined && { shares }) });
    return true;
  }

  get #places(): ShareLedger {
    return this.#shares.ledger("queries_waiting");
  }

  /** Usage of the limits that are shared here, which the coordinator cannot know. */
  #reported(shares: "own" | "refusals", tenant: string): readonly ShareRow[] {
    return shares === "own" ? this.#shares.of(tenant) : this.#shares.refusals(SHARE_REFUSALS_REPORTED_MAX);
  }

  answer(answer: QueryAnswer): void {
    this.#requests.settle(answer);
  }
}
