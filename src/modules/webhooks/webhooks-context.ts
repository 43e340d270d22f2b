// What the handlers of webhooks use.
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnalysisBooks } from "../analysis/analysis-context.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { OutboundCalls } from "../notification/outbound-calls.ts";
import type { Using } from "../queries/query-context.ts";
import type { WebhookBooks } from "./webhook-book.ts";
import type { WebhookDeliveries } from "./webhook-deliveries.ts";

/** Members that call the systems of tenants. */
interface Calling {
  readonly webhooks: Pick<WebhookDeliveries, "saved" | "forget" | "target" | "pause" | "publicUrl">;
  readonly calls: OutboundCalls;
  /** The key that events are signed by. */
  webhookPublicKey(): { readonly standard: string; readonly pem: string };
  /** Why a URL of a tenant may not be asked for; null where it may. */
  forbiddenTarget(url: string): Promise<string | null>;
}

export type WebhooksContext = Using<
  "edit" | "nowMs" | "randomBytes" | "yieldToLoop",
  AlertBooks & AnalysisBooks & AnomalyBooks,
  WebhookBooks
> &
  Changing &
  Calling;
