// The notifier's thread: senders, a timer, and the port to the coordinator. The secrets of destinations are here and in main alone.
import { OutboundHttp } from "../../adapters/http-client/outbound-http.ts";
import { chatSender } from "../../adapters/notify/chat-sender.ts";
import { emailSender } from "../../adapters/notify/email-sender.ts";
import { oncallSender } from "../../adapters/notify/oncall-sender.ts";
import { pagerSender } from "../../adapters/notify/pager-sender.ts";
import { systemClock } from "../../adapters/runtime/clock.ts";
import { Mailbox, type MessagePort } from "../../adapters/runtime/mailbox.ts";
import { threadData } from "../../adapters/runtime/threads.ts";
import type { DestinationSecrets, NotifyLimits } from "../../domain/notification/destination-secrets.ts";
import type { Destination } from "../../domain/notification/destinations.ts";
import type { NamedSecret } from "../../domain/notification/named-destinations.ts";
import type { NotifierCommand, NotifierReport } from "../../domain/notification/notifier-messages.ts";
import { Notifier, type NotifierDependencies } from "./notifier.ts";

/** Begin no attempt any more, and end once those under way have their answers. */
export interface StopNotifier {
  readonly type: "stop";
}

export interface NotifierThreadData {
  readonly secrets: DestinationSecrets;
  readonly limits: NotifyLimits;
  readonly coordinatorPort: MessagePort;
  readonly mainPort: MessagePort;
}

/** A chat webhook answers one at a time; the pager's and the on-call service's hosts are shared by many keys and teams. */
const CONNECTIONS_PER_ORIGIN = 8;
/** What is under way when the server stops may take so long to be answered; else it is sent again after the next start, under the same key. */
const STOP_MS_MAX = 3_000;
const STOP_LOOK_MS = 20;
/** Longest timer; what is due later is looked at again. */
const TIMER_MS_MAX = 60_000;

function secretOf(named: readonly NamedSecret[], initial: string | undefined) {
  const byName = new Map(named.map(({ tenant, name, secret }) => [JSON.stringify([tenant, name]), secret]));
  return ({ tenant, target }: Destination) => (target === "" ? initial : byName.get(JSON.stringify([tenant, target])));
}

function sendersOf({ chat, pager, email, oncall }: DestinationSecrets): NotifierDependencies["senders"] {
  const http = new OutboundHttp({
    guard: undefined, // the operator has set these URLs
    connectionsPerOrigin: CONNECTIONS_PER_ORIGIN,
    monotonicMs: () => systemClock.monotonicMs(),
  });
  return {
    chat: chat && chatSender(http, secretOf(chat.named, chat.initial)),
    pager: pager && pagerSender(http, pager.url, secretOf(pager.named, pager.initial)),
    email: email && emailSender(email.url, email.from),
    oncall: oncall && oncallSender(http, oncall.baseUrl, oncall.key),
  };
}

function run({ secrets, limits, coordinatorPort, mainPort }: NotifierThreadData): void {
  const coordinator = new Mailbox<NotifierCommand, NotifierReport>(coordinatorPort);
  const main = new Mailbox<StopNotifier, never>(mainPort);
  let timer: NodeJS.Timeout | undefined;
  const step = () => {
    clearTimeout(timer);
    const dueAtMs = notifier.step();
    if (dueAtMs === null) return;
    timer = setTimeout(step, Math.min(TIMER_MS_MAX, Math.max(0, dueAtMs - systemClock.wallMs())));
  };
  const notifier = new Notifier(limits, {
    senders: sendersOf(secrets),
    nowMs: () => systemClock.wallMs(),
    report: (reports) => coordinator.send({ type: "reports", reports }),
    wake: step,
  });
  const take = (command: NotifierCommand) => {
    notifier.take(command);
    step();
  };
  coordinator.serve({ send: take, recall: take });
  main.serve({ stop: () => endOnceAnswered(notifier) });
}

function endOnceAnswered(notifier: Notifier): void {
  notifier.stop();
  const lastMs = systemClock.monotonicMs() + STOP_MS_MAX;
  const look = setInterval(() => {
    if (notifier.underWay > 0 && systemClock.monotonicMs() < lastMs) return;
    clearInterval(look);
    setImmediate(() => process.exit(0)); // connections that are kept would hold the thread
  }, STOP_LOOK_MS);
}

run(threadData<NotifierThreadData>());
