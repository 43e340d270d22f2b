// Senders of a notifier that has nothing to send of their kind.
import type { NotifierDependencies } from "../../src/actors/notifier/notifier.ts";
import type { AttemptOutcome } from "../../src/domain/delivery/delivery.ts";

const REFUSED: AttemptOutcome = { kind: "failed", error: "nothing of this kind is sent here" };

export const NO_CHANNELS: NotifierDependencies["channels"] = { chat: undefined, pager: undefined, email: undefined, oncall: undefined };
export const NO_EVENTS: Pick<NotifierDependencies, "events" | "request"> = {
  events: { setKey: () => undefined, send: async () => REFUSED },
  request: async () => REFUSED,
};
