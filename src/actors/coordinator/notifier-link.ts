// The coordinator's end of the channel to the notifier. It asks the notifier again and again whether it is there: a thread that hangs ends nothing and answers nothing.
// What it had in its hands is then sent again by the next one under the same keys, as if it had ended.
import { type Handlers, Mailbox, type MessagePort } from "../../adapters/threads/mailbox.ts";
import { NOTIFIER_PULSE_MS, NOTIFIER_PULSES_MISSED_MAX, NOTIFIER_START_PULSES_MAX } from "../../core/config/notification-limits.ts";
import { every, task } from "../../core/faults/guard.ts";
import type { FaultReport } from "../../core/telemetry/fault-report.ts";
import type { OutboundCommand, OutboundOutcome, OutboundReport } from "../../domain/webhooks/outbound-messages.ts";
import type { Outbound } from "./outbound.ts";

export interface NotifierLinkDependencies {
  readonly outbound: Pick<Outbound, "connect" | "disconnect" | "hung" | "take">;
  /** The notifier gives no answer: it is to be ended, and another one started. */
  hung(): void;
  reportFault(fault: FaultReport): void;
}

const PULSE = task("the pulse of the notifier");
const REPORT = task("a report of the notifier");

export class NotifierLink {
  readonly #dependencies: NotifierLinkDependencies;
  #mailbox: Mailbox<OutboundReport | FaultReport, OutboundCommand> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /**
   * Pulses that it may leave without an answer, and has left. They are counted and not timed: where this thread was held up itself, one pulse has passed, however long
   * that took.
   */
  #missedMax = 0;
  #missed = 0;

  constructor(dependencies: NotifierLinkDependencies) {
    this.#dependencies = dependencies;
  }

  /** A notifier is there; null once it has ended. */
  connect(raw: MessagePort | null): void {
    this.#leave();
    if (raw === null) {
      this.#dependencies.outbound.disconnect();
      return;
    }
    const mailbox = new Mailbox<OutboundReport | FaultReport, OutboundCommand>(raw);
    this.#mailbox = mailbox;
    this.#missed = 0;
    this.#missedMax = NOTIFIER_START_PULSES_MAX;
    mailbox.serve(this.#handlers(), REPORT);
    this.#timer = every(NOTIFIER_PULSE_MS, PULSE, () => this.#ask(mailbox));
    this.#dependencies.outbound.connect({ send: (command) => mailbox.send(command) });
  }

  /** Asks nothing any more. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #handlers(): Handlers<OutboundReport | FaultReport, unknown> {
    const { outbound, reportFault } = this.#dependencies;
    const take = (report: OutboundOutcome) => outbound.take(report);
    return { reports: take, tried: take, "transform-tried": take, sandbox: take, pulse: () => this.#answered(), fault: reportFault };
  }

  #answered(): void {
    this.#missed = 0;
    this.#missedMax = NOTIFIER_PULSES_MISSED_MAX;
  }

  #ask(mailbox: Mailbox<OutboundReport | FaultReport, OutboundCommand>): void {
    if (this.#missed < this.#missedMax) {
      this.#missed++;
      mailbox.send({ type: "pulse" });
      return;
    }
    this.#leave();
    this.#dependencies.outbound.hung();
    this.#dependencies.hung();
  }

  /** Hears nothing more of the notifier that was there. */
  #leave(): void {
    this.stop();
    this.#mailbox?.close();
    this.#mailbox = undefined;
  }
}
