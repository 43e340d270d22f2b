// The notifier's thread as main sees it: started, started again where it has ended, stopped. The server goes on without it, and what is to be told waits.
import { ActorThread } from "../../adapters/threads/actor-thread.ts";
import { createChannel, type Mailbox, type MessagePort } from "../../adapters/threads/mailbox.ts";
import {
  NOTIFIER_RESTART_MS,
  NOTIFIER_RESTART_MS_MAX,
  NOTIFIER_SOUND_MS,
  NOTIFIER_STOP_MS_MAX,
} from "../../core/config/notification-limits.ts";
import { after, noteFault, task } from "../../core/faults/guard.ts";
import { errorFields, type Log } from "../../core/telemetry/log-event.ts";
import type { DestinationSecrets, NotifyLimits } from "../../domain/notification/destination-secrets.ts";
import { type DestinationSettings, isAnyConfigured } from "../../domain/notification/destinations.ts";
import type { OutboundCommand, OutboundReport } from "../../domain/webhooks/outbound-messages.ts";
import type { ChartFound, ChartWanted } from "./message-charts.ts";
import type { TransformSettings } from "./transforms.ts";
import type { NotifierThreadData, StopNotifier } from "./worker.ts";

export interface NotifierThreadSettings {
  readonly secrets: DestinationSecrets;
  readonly limits: NotifyLimits;
  readonly destinations: DestinationSettings;
  /** WEBHOOK_ALLOW_PRIVATE. */
  readonly allowsPrivate: boolean;
  readonly transforms: TransformSettings;
  /** PUBLIC_URL where chat shows pictures (CHART_LINKS); null where it does not. */
  readonly chartOrigin: string | null;
  /** For the log. */
  readonly hints: readonly string[];
}

/** What the notifier is connected to. */
export interface NotifierConnections {
  /** Gives the coordinator its end of the channel to it; null once it has ended. */
  connect(port: MessagePort | null): void;
  /** Asks what is to be drawn of an alert; answered with JSON, or null where there is nothing. */
  drawn(tenant: string, alertId: string, answer: (body: string | null) => void): void;
  /** Key of the addresses of pictures. */
  readonly chartKey: Uint8Array;
}

/** The notifier as far as it is needed: from the start where a channel is configured, else from the first webhook or runbook on. */
export class NotifierStart {
  readonly #settings: NotifierThreadSettings;
  readonly #connections: NotifierConnections;
  readonly #log: Log;
  #thread: NotifierThread | undefined;
  #isStopping = false;

  constructor(settings: NotifierThreadSettings, connections: NotifierConnections, log: Log) {
    this.#settings = settings;
    this.#connections = connections;
    this.#log = log;
    for (const hint of settings.hints) log("warn", hint);
    if (isAnyConfigured(settings.destinations)) this.want();
  }

  /** Something is to be sent. */
  want(): void {
    if (this.#isStopping) return;
    this.#thread ??= new NotifierThread(this.#settings, this.#connections, this.#log);
  }

  /** It hangs: its thread is ended, and another one started. */
  replace(): void {
    if (this.#isStopping || this.#thread === undefined) return;
    this.#log("error", "the notifier gives no answer; its thread is ended, and what it had in its hands is sent again under the same keys");
    this.#thread.replace();
  }

  /** Resolves once what was under way has its answer, or has waited long enough. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#thread?.stop();
  }
}

class NotifierThread {
  readonly #thread: ActorThread;
  #main: Mailbox<ChartWanted, StopNotifier | ChartFound> | undefined;

  constructor(
    { secrets, limits, allowsPrivate, transforms, chartOrigin }: NotifierThreadSettings,
    { connect, drawn, chartKey }: NotifierConnections,
    log: Log,
  ) {
    const options = {
      name: "notifier",
      file: new URL("./worker.js", import.meta.url),
      restart: { firstMs: NOTIFIER_RESTART_MS, mostMs: NOTIFIER_RESTART_MS_MAX, soundMs: NOTIFIER_SOUND_MS },
      failed: ({ error }: { readonly error: Error }) => {
        log("error", "the notifier ended; it is started again, and what is to be told waits", errorFields(error));
        noteFault({ where: "thread", name: "the notifier", error });
        connect(null);
      },
    };
    this.#thread = new ActorThread(options, () => {
      const main = createChannel<ChartWanted, StopNotifier | ChartFound>();
      const { first, second } = createChannel<OutboundReport, OutboundCommand>();
      const charts = chartOrigin === null ? null : { origin: chartOrigin, key: chartKey };
      const shared = { secrets, limits, allowsPrivate, transforms, charts };
      const data: NotifierThreadData = { ...shared, coordinatorPort: second.raw, mainPort: main.second.raw };
      this.#main?.close();
      this.#main = main.first;
      main.first.serve(
        {
          "chart-wanted": ({ id, tenant, alertId }) => drawn(tenant, alertId, (body) => main.first.send({ type: "chart-found", id, body })),
        },
        task("a picture for a message"),
      );
      connect(first.raw);
      return { data, ports: [data.coordinatorPort, data.mainPort] };
    });
  }

  replace(): void {
    this.#thread.replace();
  }

  /** Resolves once what was under way has its answer, or has waited long enough. */
  async stop(): Promise<void> {
    this.#thread.expectEnd();
    this.#main?.send({ type: "stop" });
    const late = after(NOTIFIER_STOP_MS_MAX, task("the stop of a notifier that hangs"), () => this.#thread.terminate());
    await this.#thread.ended;
    clearTimeout(late);
    this.#main?.close();
  }
}
