// The notifier's thread: senders, a timer, and the port to the coordinator. The secrets of destinations are here and in main alone.
import { chartTarget } from "../../adapters/credentials/chart-signature.ts";
import { OutboundHttp } from "../../adapters/http-client/outbound-http.ts";
import { type ChatPictures, chatSender } from "../../adapters/notify/chat-sender.ts";
import { emailSender } from "../../adapters/notify/email-sender.ts";
import { oncallSender } from "../../adapters/notify/oncall-sender.ts";
import { pagerSender } from "../../adapters/notify/pager-sender.ts";
import { systemClock } from "../../adapters/platform/clock.ts";
import { collectWhenIdle } from "../../adapters/platform/idle-collection.ts";
import { nameSources } from "../../adapters/platform/source-positions.ts";
import { type Handlers, Mailbox, type MessagePort } from "../../adapters/threads/mailbox.ts";
import { threadData } from "../../adapters/threads/threads.ts";
import { WebhookSender } from "../../adapters/webhooks/webhook-sender.ts";
import { after, afterTurn, every, fatal, type Home, reportFaults, task } from "../../core/faults/guard.ts";
import { type FaultReport, faultReport } from "../../core/telemetry/fault-report.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import type { DestinationSecrets, NotifyLimits } from "../../domain/notification/destination-secrets.ts";
import type { Destination } from "../../domain/notification/destinations.ts";
import type { NamedSecret } from "../../domain/notification/named-destinations.ts";
import type { DeliveryCommand, OutboundCommand, OutboundReport, TenantRequest } from "../../domain/webhooks/outbound-messages.ts";
import { type ChartFound, type ChartWanted, MessageCharts } from "./message-charts.ts";
import { Notifier, type NotifierDependencies } from "./notifier.ts";
import { type TransformSettings, Transforms } from "./transforms.ts";

/** Begin no attempt any more, and end once those under way have their answers. */
export interface StopNotifier {
  readonly type: "stop";
}

export interface NotifierThreadData {
  readonly secrets: DestinationSecrets;
  readonly limits: NotifyLimits;
  /** Whether URLs of tenants may lead to private addresses. */
  readonly allowsPrivate: boolean;
  readonly transforms: TransformSettings;
  /** Where pictures that chat fetches are, and the key of their addresses; null where chat shows none. */
  readonly charts: { readonly origin: string; readonly key: Uint8Array } | null;
  readonly coordinatorPort: MessagePort;
  readonly mainPort: MessagePort;
}

/** The state of channels must be right, or its thread begins anew; of webhooks, transforms and runbooks each command stands alone. */
const STEP = fatal("a step of the notifier");
const COMMAND = fatal("a command to the notifier");
const TENANT_COMMAND = task("a command for a tenant's webhook or runbook");
const OF_TENANTS: ReadonlySet<string> = new Set(["webhook-target", "webhook-gone", "webhook-try", "transform-trial", "channel-try"]);

function homeOf(command: OutboundCommand): Home {
  const isOfTenant = command.type === "send" ? command.deliveries[0]?.kind !== "channel" : OF_TENANTS.has(command.type);
  return isOfTenant ? TENANT_COMMAND : COMMAND;
}

/** A chat webhook answers one at a time; the pager's and the on-call service's hosts are shared by many keys and teams. */
const CONNECTIONS_PER_ORIGIN = 8;
/** URLs of tenants: a webhook has eight in flight, and several may share a host. */
const TENANT_CONNECTIONS_PER_ORIGIN = 64;
/** Time that an attempt under way may take when the server stops; else it is sent again after the next start, under the same key. */
const STOP_MS_MAX = 3_000;
const STOP_CHECK_MS = 20;
/** Longest timer; what is due later is looked at again. */
const TIMER_MS_MAX = 60_000;

function secretOf(named: readonly NamedSecret[], initial: string | undefined) {
  const byName = new Map(named.map(({ tenant, name, secret }) => [JSON.stringify([tenant, name]), secret]));
  return ({ tenant, target }: Destination) => (target === "" ? initial : byName.get(JSON.stringify([tenant, target])));
}

/** Addresses of the pictures of alerts that have one, signed as a message leaves. */
function chatPictures(addresses: NotifierThreadData["charts"], charts: MessageCharts): ChatPictures {
  if (addresses === null) return async () => () => null;
  const { origin, key } = addresses;
  return async (messages) => {
    const drawable = await charts.drawable(messages);
    return ({ tenant, alertId }) =>
      drawable.has(alertId) ? `${origin}${chartTarget(key, { tenant, alertId }, systemClock.wallMs())}` : null;
  };
}

function sendersOf(
  { chat, pager, email, oncall }: DestinationSecrets,
  addresses: NotifierThreadData["charts"],
  charts: MessageCharts,
): NotifierDependencies["channels"] {
  const http = new OutboundHttp({
    guard: undefined, // the operator has set these URLs
    connectionsPerOrigin: CONNECTIONS_PER_ORIGIN,
    monotonicMs: () => systemClock.monotonicMs(),
    wallMs: () => systemClock.wallMs(),
  });
  return {
    chat: chat && chatSender(http, secretOf(chat.named, chat.initial), chatPictures(addresses, charts)),
    pager: pager && pagerSender(http, pager.url, secretOf(pager.named, pager.initial)),
    email: email && emailSender(email.url, email.from, (messages) => charts.files(messages)),
    oncall: oncall && oncallSender(http, oncall.baseUrl, oncall.key),
  };
}

/** One request past the guard, for a runbook: 2xx is success, any other answer a refusal. */
async function requested(http: OutboundHttp, { url, method, headers, body, timeoutMs }: TenantRequest): Promise<AttemptOutcome> {
  const sent = await http.send({ url, method, headers, body: body ?? undefined, timeoutMs });
  const { tookMs: responseTimeMs } = sent;
  if (sent.kind === "failed") {
    const answer = { statusCode: null, responseTimeMs };
    if (!sent.mayHaveArrived) return { kind: "failed", error: sent.error, answer };
    return { kind: "retry", error: sent.error, afterMs: null, mayHaveArrived: true, answer };
  }
  const { status: statusCode, text } = sent;
  const answer = { statusCode, responseTimeMs, text };
  return statusCode >= 200 && statusCode < 300
    ? { kind: "delivered", answer }
    : { kind: "failed", error: `answered ${statusCode}`, answer };
}

function run(data: NotifierThreadData): void {
  const { secrets, limits, allowsPrivate, transforms: transformSettings, coordinatorPort, mainPort } = data;
  const coordinator = new Mailbox<OutboundCommand, OutboundReport | FaultReport>(coordinatorPort);
  reportFaults((fault) => coordinator.send(faultReport(fault)));
  const main = new Mailbox<StopNotifier | ChartFound, ChartWanted>(mainPort);
  const charts = new MessageCharts((wanted) => main.send(wanted));
  let timer: NodeJS.Timeout | undefined;
  const step = () => {
    clearTimeout(timer);
    const dueAtMs = notifier.step();
    if (dueAtMs === null) return;
    timer = after(Math.min(TIMER_MS_MAX, Math.max(0, dueAtMs - systemClock.wallMs())), STEP, step);
  };
  const http = new OutboundHttp({
    guard: { allowPrivate: allowsPrivate },
    connectionsPerOrigin: TENANT_CONNECTIONS_PER_ORIGIN,
    monotonicMs: () => systemClock.monotonicMs(),
    wallMs: () => systemClock.wallMs(),
  });
  const transforms = new Transforms(transformSettings, {
    monotonicMs: () => systemClock.monotonicMs(),
    report: (report) => coordinator.send(report),
  });
  const notifier = new Notifier(limits, {
    channels: sendersOf(secrets, data.charts, charts),
    events: new WebhookSender({ http, transforms: transforms.sandbox, nowMs: () => systemClock.wallMs() }),
    request: (request) => requested(http, request),
    nowMs: () => systemClock.wallMs(),
    report: (reports) => coordinator.send({ type: "reports", reports }),
    wake: step,
  });
  const take = (command: DeliveryCommand) => {
    if (command.type === "webhook-target") transforms.aim(command.target.id, command.target.transform !== null);
    if (command.type === "webhook-gone") transforms.aim(command.webhookId, false);
    notifier.take(command);
    step();
  };
  const tried = async (id: number, attempt: () => Promise<AttemptOutcome>) => {
    const sentAtMs = systemClock.wallMs();
    coordinator.send({ type: "tried", id, sentAtMs, outcome: await attempt() });
  };
  const handlers: Handlers<OutboundCommand, unknown> = {
    send: take,
    recall: take,
    join: take,
    "webhook-key": take,
    "webhook-target": take,
    "webhook-gone": take,
    "channel-try": ({ id, destination, messages }) => tried(id, () => notifier.tryChannel(destination, messages)),
    "webhook-try": ({ id, target, eventId, event }) => tried(id, () => notifier.tryEvent(target, eventId, event)),
    "transform-trial": (trial) => transforms.try(trial),
    pulse: () => coordinator.send({ type: "pulse" }),
  };
  coordinator.serve(handlers, homeOf);
  main.serve(
    { stop: () => endOnceAnswered(notifier, transforms), "chart-found": (found) => charts.take(found) },
    fatal("a message of the main thread"),
  );
  collectWhenIdle();
}

function endOnceAnswered(notifier: Notifier, transforms: Transforms): void {
  notifier.stop();
  const lastMs = systemClock.monotonicMs() + STOP_MS_MAX;
  const check = every(STOP_CHECK_MS, task("the stop of the notifier"), () => {
    if (notifier.underWay > 0 && systemClock.monotonicMs() < lastMs) return;
    clearInterval(check);
    transforms.close();
    afterTurn(fatal("the end of the notifier"), () => process.exit(0)); // connections that are kept would hold the thread
  });
}

nameSources();
run(threadData<NotifierThreadData>());
