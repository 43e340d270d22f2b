// All that leaves the server for people and other systems: messages of alerts, events of webhooks, single requests. One notifier sends them.
import { forbiddenUrl } from "../../adapters/http-client/address-guard.ts";
import { dispatch, type Handlers } from "../../adapters/threads/mailbox.ts";
import { publicKeyOf, signingKeyOf } from "../../adapters/webhooks/webhook-signature.ts";
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import type { OutboundOutcome } from "../../domain/webhooks/outbound-messages.ts";
import type { RcaReport } from "../../modules/analysis/report-row.ts";
import { anomalyFollowers } from "../../modules/anomalies/anomaly-follower.ts";
import type { EventReplays } from "../../modules/dead-letters/replay-runner.ts";
import { Outbox, type OutboxDependencies } from "../../modules/deliveries/outbox.ts";
import { ChannelDeliveries, type ChannelDeliveriesDependencies } from "../../modules/notification/channel-deliveries.ts";
import { OutboundCalls, type OutboundLink } from "../../modules/notification/outbound-calls.ts";
import type { NotificationOptions } from "../../modules/notification/routes.ts";
import { RunbookRunner } from "../../modules/runbooks/runbook-runner.ts";
import type { RunbookState } from "../../modules/runbooks/runbook-state.ts";
import type { Part } from "../../modules/state/part.ts";
import { eventReplays } from "../../modules/webhooks/event-replays.ts";
import { SandboxFacts } from "../../modules/webhooks/sandbox-facts.ts";
import { WebhookDeliveries, type WebhookDeliveriesDependencies } from "../../modules/webhooks/webhook-deliveries.ts";
import type { ExpiredDelivery } from "../../modules/webhooks/webhook-row.ts";
import type { CommitFollower } from "./commits/commit-followers.ts";

export interface OutboundDependencies extends Omit<OutboxDependencies, "control">, ChannelDeliveriesDependencies {
  readonly state: ChannelDeliveriesDependencies["state"] & WebhookDeliveriesDependencies["state"] & RunbookState;
  emit(message: CoordinatorMessage): void;
  /** Why a URL of a tenant may not be asked for; where it is not given names are not resolved. */
  forbiddenTarget?(url: string): Promise<string | null>;
}

/** The parts, connected and stopped together. */
export class Outbound implements Part, CommitFollower {
  readonly outbox: Outbox;
  readonly channels: ChannelDeliveries;
  readonly webhooks: WebhookDeliveries;
  readonly calls: OutboundCalls;
  readonly sandbox: SandboxFacts;
  readonly runs: RunbookRunner;
  readonly replays: EventReplays;
  readonly forbiddenTarget: (url: string) => Promise<string | null>;
  readonly #counters: OutboundDependencies["counters"];
  readonly #privateKey: () => string;
  readonly #handlers: Handlers<OutboundOutcome>;

  constructor(options: NotificationOptions | undefined, dependencies: OutboundDependencies) {
    const { emit, state } = dependencies;
    const wantNotifier = () => emit({ type: "notifier-wanted" });
    this.#counters = dependencies.counters;
    this.#privateKey = () => signingKeyOf(state.pageSecret);
    this.outbox = new Outbox({ ...dependencies, control: state.control });
    this.channels = new ChannelDeliveries(options, this.outbox, dependencies);
    this.webhooks = new WebhookDeliveries(this.outbox, {
      ...dependencies,
      wantNotifier,
      signingKey: this.#privateKey,
      publicUrl: options?.publicUrl ?? null,
    });
    this.sandbox = new SandboxFacts(dependencies.counters);
    this.calls = new OutboundCalls(wantNotifier, state.shares.ledger("outbound_calls"));
    this.runs = new RunbookRunner({ ...dependencies, wantNotifier, outbox: this.outbox, channels: this.channels });
    state.anomalies.follower = anomalyFollowers([this.webhooks, this.runs]);
    this.replays = eventReplays(state, this.webhooks);
    this.forbiddenTarget = dependencies.forbiddenTarget ?? (async (url) => forbiddenUrl(url, false));
    this.#handlers = {
      reports: ({ reports }) => this.outbox.take(reports),
      tried: (report) => this.calls.take(report),
      "transform-tried": (report) => {
        this.sandbox.take(report.sandbox);
        this.calls.take(report);
      },
      sandbox: ({ sandbox }) => this.sandbox.take(sandbox),
    };
  }

  /** Reads the deliveries and runs that are not done with. */
  start(): void {
    this.outbox.start();
    this.runs.start();
  }

  /** A notifier is there. */
  connect(link: OutboundLink): void {
    this.outbox.connect(link);
    this.calls.connect(link);
  }

  /** The notifier has ended. */
  disconnect(): void {
    this.outbox.disconnect();
    this.calls.disconnect();
    this.sandbox.ended();
  }

  /** It gives no answer, which is counted; for all here that is its end. */
  hung(): void {
    this.#counters.add("notifierHung", 1);
    this.disconnect();
  }

  /** Takes what the notifier reports. */
  take(report: OutboundOutcome): void {
    dispatch(this.#handlers, report);
  }

  /** A revision of a report is stored. */
  reportStored(report: RcaReport): void {
    this.channels.reportRevised(report);
    this.webhooks.reportRevised(report);
    this.runs.reportRevised(report);
  }

  /** Deliveries of webhooks have ended because they are too old. */
  expired(rows: readonly ExpiredDelivery[]): void {
    this.webhooks.expired(rows);
  }

  /** Nothing is handed over any more. */
  stop(): void {
    this.outbox.stop();
    this.runs.stop();
  }

  /** Members that handlers use. */
  parts() {
    const { channels, webhooks, calls, sandbox, runs, forbiddenTarget } = this;
    return { channels, webhooks, calls, sandbox, runs, forbiddenTarget, webhookPublicKey: () => publicKeyOf(this.#privateKey()) };
  }
}
