import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AttemptOutcome } from "../../../../src/domain/delivery/delivery.ts";
import type { AlertMessage, MessageKind } from "../../../../src/domain/notification/alert-message.ts";
import type { Notifier } from "../../../../src/domain/notification/channel.ts";
import {
  afterRestart,
  type ChannelDelivery,
  isPage,
  type SharedAttemptEnd,
  withAttempt,
  withJoined,
  withMessage,
  withOutcome,
} from "../../../../src/domain/notification/channel-delivery.ts";
import { ALERT_MESSAGE as MESSAGE } from "../../../support/alert-message.ts";

const of = (kind: MessageKind, more: Partial<AlertMessage> = {}): AlertMessage => ({ ...MESSAGE, kind, ...more });
const DELIVERED: AttemptOutcome = { kind: "delivered" };
const REFUSED: AttemptOutcome = { kind: "retry", error: "connection refused", afterMs: null, mayHaveArrived: false };
const LOST: AttemptOutcome = { kind: "retry", error: "no answer in 10 s", afterMs: null, mayHaveArrived: true };

const ended = (outcome: AttemptOutcome, nowMs = 2_000, messages = 1): SharedAttemptEnd => ({ outcome, messages, nowMs, random: 0.5 });

/** The delivery behind what happens to it, in order. */
function notified(
  notifier: Notifier,
  ...steps: ReadonlyArray<AlertMessage | AttemptOutcome | "attempt" | "restart">
): ChannelDelivery | undefined {
  let delivery: ChannelDelivery | undefined;
  for (const step of steps) {
    if (step === "attempt") delivery = withAttempt(delivery as ChannelDelivery, 1_000);
    else if (step === "restart") delivery = afterRestart(delivery as ChannelDelivery, notifier);
    else if ("alertId" in step) delivery = withMessage(delivery, step, notifier);
    else delivery = withOutcome(delivery as ChannelDelivery, ended(step), notifier);
  }
  return delivery;
}

describe("a message that left with others", () => {
  const FAILED: AttemptOutcome = { kind: "failed", error: "answered 400" };
  const attempt = (notifier: Notifier) => withAttempt(notified(notifier, of("opened")) as ChannelDelivery, 1_000);
  const JOINED = { alertIds: ["a1", "a2"], name: "n", sinceMs: 1_000, attempts: 0, mayHaveArrived: false };
  const mail = (...outcomes: AttemptOutcome[]) =>
    outcomes.reduce(
      (now, outcome) => withOutcome(withAttempt(now, 1_000), ended(outcome, 2_000, 2), "email"),
      withJoined(notified("email", of("opened")) as ChannelDelivery, JOINED),
    );

  it("and was refused with them is sent alone at once, and given up only when it is refused alone", () => {
    for (const notifier of ["chat", "email"] as const) {
      const refused = withOutcome(attempt(notifier), ended(FAILED, 2_000, 10), notifier);
      expect(refused).toMatchObject({ state: "pending", message: { kind: "opened" }, alone: true, nextAttemptAtMs: 2_000 });
      const again = withOutcome(withAttempt(refused, 3_000), ended(FAILED), notifier);
      expect(again).toMatchObject({ state: "exhausted", message: null });
    }
  });

  it("in a mail that may have arrived is repeated with them until that is known, and what is newer waits behind", () => {
    const lost = mail(LOST, REFUSED);
    expect(lost).toMatchObject({ joined: { name: "n", attempts: 2, mayHaveArrived: true }, notified: "unknown" });
    const newer = withMessage(lost, of("resolved", { atMs: 5 }), "email") as ChannelDelivery;
    expect(newer).toMatchObject({ message: { kind: "opened" }, waiting: [{ kind: "resolved" }], joined: { name: "n" } });
    const after = withOutcome(withAttempt(newer, 3_000), ended(DELIVERED, 4_000, 2), "email");
    expect(after).toMatchObject({ message: { kind: "resolved" }, waiting: [] });
    expect(after.joined).toBeUndefined();
    expect(afterRestart({ ...mail(), inFlight: true }, "email").joined).toMatchObject({ mayHaveArrived: true });
  });

  it("in a mail that has not arrived may leave in another", () => {
    const refused = mail(REFUSED);
    expect(refused.joined).toBeUndefined();
    expect(refused.alone).toBeUndefined();
    expect(withMessage(refused, of("resolved"), "email")).toMatchObject({ message: { kind: "resolved", both: true } });
  });

  it("is repeated alone where it may have arrived alone: a mail has its Message-ID, a chat message none", () => {
    expect(notified("email", of("opened"), "attempt", LOST)).toMatchObject({ alone: true });
    expect(notified("email", of("opened"), "attempt", "restart")).toMatchObject({ alone: true });
    expect(notified("email", of("opened"), "attempt", LOST, of("resolved"))?.alone).toBeUndefined();
    expect(notified("email", of("opened"), "attempt", REFUSED)?.alone).toBeUndefined();
    expect(notified("chat", of("opened"), "attempt", LOST)?.alone).toBeUndefined();
  });
});

describe("a channel's delivery", () => {
  it("begins with a page, and with nothing else", () => {
    expect(notified("chat", of("opened"))).toMatchObject({ state: "pending", message: { kind: "opened" }, notified: "no" });
    for (const kind of ["updated", "acknowledged", "resolved", "cause"] as const) expect(notified("chat", of(kind))).toBeUndefined();
  });

  it("of an alert that ends before anything was tried is one message in chat and mail, none for pager and oncall", () => {
    for (const notifier of ["chat", "email"] as const) {
      expect(notified(notifier, of("opened"), of("resolved"))).toMatchObject({ message: { kind: "resolved", both: true } });
    }
    for (const notifier of ["pager", "oncall"] as const) {
      expect(notified(notifier, of("opened"), of("resolved"))).toMatchObject({ state: "dropped", message: null });
    }
  });

  it("whose attempt was refused ends as one that was never tried", () => {
    expect(notified("pager", of("opened"), "attempt", REFUSED, of("resolved"))).toMatchObject({ state: "dropped", message: null });
    expect(notified("chat", of("opened"), "attempt", REFUSED, of("resolved"))).toMatchObject({ message: { kind: "resolved", both: true } });
  });

  it("of unknown outcome is followed by its end", () => {
    expect(notified("pager", of("opened"), "attempt", LOST, of("resolved"))).toMatchObject({ message: { kind: "resolved", both: false } });
    expect(notified("pager", of("opened"), "attempt", "restart", of("resolved"))).toMatchObject({ message: { kind: "resolved" } });
    expect(notified("pager", of("opened"), "attempt", of("resolved"), "restart")).toMatchObject({ message: { kind: "resolved" } });
  });

  it("sends what was decided while one was under way behind it, the newest alone", () => {
    const busy = notified("pager", of("opened"), "attempt", of("raised"), of("acknowledged"), of("resolved"));
    expect(busy).toMatchObject({ message: { kind: "opened" }, waiting: [{ kind: "resolved" }] });
    expect(withOutcome(busy as ChannelDelivery, ended(DELIVERED), "pager")).toMatchObject({
      message: { kind: "resolved" },
      notified: "yes",
      waiting: [],
    });
  });

  it("gives its cause to a page that waits, and none behind an end", () => {
    expect(notified("chat", of("opened"), of("cause", { cause: "a full disk" }))).toMatchObject({
      message: { kind: "opened", cause: "a full disk" },
    });
    expect(notified("chat", of("opened"), "attempt", DELIVERED, of("cause", { cause: "a full disk" }))).toMatchObject({
      message: { kind: "cause", cause: "a full disk" },
    });
    expect(notified("chat", of("opened"), "attempt", DELIVERED, of("resolved"), of("cause", { cause: "x" }))).toMatchObject({
      message: { kind: "resolved" },
    });
  });

  it("is not told of its end twice, and hears of a reopening", () => {
    const done = notified("pager", of("opened"), "attempt", DELIVERED, of("resolved"), "attempt", DELIVERED, of("resolved"));
    expect(done).toMatchObject({ state: "delivered", message: null, endNotified: true });
    expect(withMessage(done, of("reopened"), "pager")).toMatchObject({ message: { kind: "reopened" }, endNotified: false });
  });

  it.each<Notifier>(["pager", "chat"])("a reopening that waits for %s stays one when an update comes", (notifier) => {
    const done = notified(notifier, of("opened"), "attempt", DELIVERED, of("resolved"), "attempt", DELIVERED);
    const reopened = withMessage(done, of("reopened"), notifier) as ChannelDelivery;
    expect(withMessage(reopened, of("updated"), notifier)).toMatchObject({ state: "pending", message: { kind: "reopened" } });
  });

  it("that is refused for good is given up; its end is sent where the channel had heard of it", () => {
    expect(notified("pager", of("opened"), "attempt", { kind: "failed", error: "400" })).toMatchObject({
      state: "exhausted",
      notified: "no",
    });
    const raised = notified(
      "pager",
      of("opened"),
      "attempt",
      DELIVERED,
      of("raised"),
      "attempt",
      { kind: "failed", error: "400" },
      of("resolved"),
    );
    expect(raised).toMatchObject({ state: "pending", message: { kind: "resolved" } });
  });

  it("whatever happens: who may have been told hears the end last, and an alert that goes on is never left unsaid", () => {
    const kinds = fc.constantFrom<MessageKind>("raised", "updated", "acknowledged", "cause", "resolved", "reopened");
    const outcome = fc.constantFrom(DELIVERED, REFUSED, LOST);
    const step = fc.oneof(kinds, fc.constant("attempt" as const), outcome, fc.constant("restart" as const));
    fc.assert(
      fc.property(fc.constantFrom<Notifier>("chat", "pager", "email", "oncall"), fc.array(step, { maxLength: 40 }), (notifier, steps) => {
        let delivery = withMessage(undefined, of("opened"), notifier) as ChannelDelivery;
        const heard: MessageKind[] = []; // what may have arrived
        let isOpen = true;
        let isTaken = false; // somebody has it since it fires: the pager is not woken for what it has not been told
        for (const one of [...steps, "settle" as const]) {
          if (one === "restart") delivery = afterRestart(delivery, notifier);
          else if (one === "attempt" || one === "settle") {
            for (let turns = one === "settle" ? 20 : 1; turns > 0 && delivery.message !== null; turns--) {
              if (!delivery.inFlight) {
                delivery = withAttempt(delivery, 0);
                heard.push((delivery.message as AlertMessage).kind);
              }
              if (one === "settle") delivery = withOutcome(delivery, ended(DELIVERED, 0), notifier);
            }
          } else if (typeof one === "string") {
            if ((one === "resolved" || one === "raised" || one === "acknowledged" || one === "cause" || one === "updated") && !isOpen)
              continue;
            if (one === "reopened" && isOpen) continue;
            if (one === "resolved") isOpen = false;
            if (one === "reopened") isOpen = true;
            if (one === "acknowledged") isTaken = true;
            if (one === "reopened" || one === "raised") isTaken = false;
            delivery = withMessage(delivery, of(one), notifier) ?? delivery;
          } else if (delivery.inFlight) {
            if (one === REFUSED) heard.pop(); // it is known that it did not arrive
            delivery = withOutcome(delivery, ended(one, 0), notifier);
          }
        }
        expect(delivery.message).toBeNull();
        if (heard.length === 0) return; // it ended, or somebody had it, before anybody was told
        const mayStaySilent = isTaken && (notifier === "pager" || notifier === "oncall");
        if (isOpen && !mayStaySilent) expect(heard.at(-1)).not.toBe("resolved");
        if (!isOpen) expect(heard.at(-1)).toBe("resolved");
        if (isOpen && (notifier === "chat" || notifier === "email"))
          expect(heard.some(isPage) || heard.includes("acknowledged")).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
