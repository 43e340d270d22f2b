// Rows of deliveries: what is stored is read as it was, what is cut off is known as damaged, and rows of version 1 are read.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DELIVERY_STATES } from "../../../../src/domain/delivery/delivery.ts";
import { type AlertMessage, MESSAGE_KINDS } from "../../../../src/domain/notification/alert-message.ts";
import { NOTIFIERS } from "../../../../src/domain/notification/channel.ts";
import { decodeEntry, encodeEntry } from "../../../../src/modules/deliveries/delivery-form.ts";
import type { DeliveryRow } from "../../../../src/modules/notification/delivery-row.ts";
import { jsonEntry } from "../../../../src/modules/notification/json-deliveries.ts";
import { CHANNEL_ROW } from "../../../../src/modules/notification/stored-channel.ts";
import { EVENT_ROW } from "../../../../src/modules/webhooks/stored-event.ts";
import { EVENT_TYPES, type WebhookDeliveryRow } from "../../../../src/modules/webhooks/webhook-row.ts";

const TEXT = fc.string({ unit: "grapheme", maxLength: 12 });
const TIME = fc.double({ min: 0, max: 4e12, noNaN: true, noDefaultInfinity: true });
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one);
const ID = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((id) => id.toString(16).padStart(32, "0"));
const COUNT = fc.nat(1_000);
const PROGRESS = {
  state: fc.constantFrom(...DELIVERY_STATES),
  attempts: COUNT,
  firstTriedAtMs: maybe(TIME),
  nextAttemptAtMs: TIME,
  error: maybe(TEXT),
};
const MESSAGE: fc.Arbitrary<AlertMessage> = fc.record(
  {
    ...{ kind: fc.constantFrom(...MESSAGE_KINDS), tenant: TEXT, alertId: TEXT, severity: fc.constantFrom("low", "medium", "high") },
    ...{
      serviceId: TEXT,
      environment: TEXT,
      source: TEXT,
      metricName: TEXT,
      explanation: TEXT,
      services: fc.array(TEXT, { maxLength: 3 }),
    },
    ...{ startedAtMs: TIME, atMs: TIME, resolvedAtMs: maybe(TIME), ending: TEXT, acknowledgedBy: maybe(TEXT), team: maybe(TEXT) },
    ...{ cause: maybe(TEXT), url: maybe(TEXT), both: fc.boolean() },
  },
  { requiredKeys: requiredMembers() },
);
const NOTIFIER = fc.constantFrom(...NOTIFIERS);
const JOINED = fc.record({
  ...{ alertIds: fc.array(TEXT, { maxLength: 3 }), name: TEXT, sinceMs: TIME, attempts: COUNT, mayHaveArrived: fc.boolean() },
});
const CHANNEL: fc.Arbitrary<DeliveryRow> = fc.record(
  {
    ...{
      channel: TEXT,
      ruleId: maybe(TEXT),
      fallback: fc.boolean(),
      notifier: NOTIFIER,
      run: TEXT,
      causeNotified: fc.constant(true as const),
    },
    destination: maybe(fc.record({ notifier: NOTIFIER, tenant: TEXT, target: TEXT })),
    delivery: fc.record(
      {
        ...PROGRESS,
        ...{ message: maybe(MESSAGE), inFlight: fc.boolean(), waiting: fc.array(MESSAGE, { maxLength: 2 }), endNotified: fc.boolean() },
        ...{
          notified: fc.constantFrom("no", "unknown", "yes"),
          sentAtMs: maybe(TIME),
          deliveredAtMs: maybe(TIME),
          notifiedAtMs: maybe(TIME),
        },
        ...{ alone: fc.constant(true as const), joined: JOINED },
      },
      {
        requiredKeys: [
          ...(["state", "attempts", "firstTriedAtMs", "nextAttemptAtMs", "error", "message", "inFlight", "waiting"] as const),
          ...(["endNotified", "notified", "sentAtMs", "deliveredAtMs", "notifiedAtMs"] as const),
        ],
      },
    ),
  },
  { requiredKeys: ["channel", "ruleId", "fallback", "notifier", "run", "destination", "delivery"] },
);
const NOTE = fc.record({
  ...{ attempt: COUNT, state: fc.constantFrom("succeeded", "failed", "exhausted"), statusCode: maybe(fc.nat(999)), responseTimeMs: COUNT },
  ...{ error: maybe(TEXT), attemptedAtMs: TIME, nextAttemptAtMs: maybe(TIME) },
});
const EVENT: fc.Arbitrary<WebhookDeliveryRow> = fc.record({
  ...PROGRESS,
  ...{ deliveryId: ID, eventId: ID, eventType: fc.constantFrom(...EVENT_TYPES), anomalyId: fc.oneof(ID, fc.constant("")) },
  ...{ occurredAtMs: TIME, createdAtMs: TIME, holdUntilMs: maybe(TIME), event: maybe(TEXT), notes: fc.array(NOTE, { maxLength: 4 }) },
});

function requiredMembers() {
  return [
    ...(["kind", "tenant", "alertId", "severity", "serviceId", "environment", "source", "metricName", "explanation"] as const),
    ...(["services", "startedAtMs", "atMs", "resolvedAtMs", "acknowledgedBy", "team", "cause", "url", "both"] as const),
  ];
}

const json = (row: object) => Buffer.concat([Buffer.of(1), Buffer.from(JSON.stringify(row))]);

describe("a stored delivery", () => {
  it("of a channel is read as it was", () => {
    fc.assert(
      fc.property(CHANNEL, (row) => {
        expect(CHANNEL_ROW.decode(CHANNEL_ROW.encode(row))).toEqual(row);
      }),
    );
  });

  it("of an event is read as it was", () => {
    fc.assert(
      fc.property(EVENT, (row) => {
        expect(EVENT_ROW.decode(EVENT_ROW.encode(row))).toEqual(row);
      }),
    );
  });

  it("that was cut off is known as damaged", () => {
    fc.assert(
      fc.property(EVENT, fc.double({ min: 0, max: 0.99, noNaN: true }), (row, part) => {
        const bytes = EVENT_ROW.encode(row);
        expect(() => EVENT_ROW.decode(bytes.subarray(0, Math.max(1, Math.floor(bytes.length * part))))).toThrow(/damaged/);
      }),
    );
  });

  it("of another version says so", () => {
    expect(() => CHANNEL_ROW.decode(Uint8Array.of(3))).toThrow(/deliveries has a format .* its version is 3/);
    expect(() => EVENT_ROW.decode(Uint8Array.of(3))).toThrow(/webhook_deliveries has a format/);
  });
});

describe("a row of version 1", () => {
  const rest = {
    ...{ state: "delivered", message: null, inFlight: false, waiting: [], attempts: 1 },
    ...{ firstTriedAtMs: 1, nextAttemptAtMs: 0, sentAtMs: 1, deliveredAtMs: 2, error: null },
  };
  const of = (delivery: object) => ({
    channel: "pager",
    ruleId: null,
    fallback: false,
    notifier: "pager",
    destination: null,
    delivery,
    run: "r",
  });

  it("of a channel is read, without the members of joined mails and of the first telling too", () => {
    const first = { ...rest, told: "yes", endTold: false };
    const read = { ...rest, notified: "yes", endNotified: false, notifiedAtMs: 2 };
    expect(CHANNEL_ROW.decode(json(of(first)))).toEqual(of(read));
    const dropped = { deliveredAtMs: null, notifiedAtMs: null };
    const superseded = { ...first, state: "superseded", told: "no", deliveredAtMs: null };
    expect(CHANNEL_ROW.decode(json(of(superseded)))).toEqual(of({ ...read, ...dropped, state: "dropped", notified: "no" }));
    const again = { ...first, toldAtMs: null, alone: true };
    expect(CHANNEL_ROW.decode(json({ ...of(again), causeTold: true }))).toEqual({
      ...of({ ...read, notifiedAtMs: null, alone: true }),
      causeNotified: true,
    });
  });

  it("of an event is read, with its attempts as notes", () => {
    const notes = [
      { attempt: 1, state: "failed", statusCode: 503, responseTimeMs: 3, error: "answered 503", attemptedAtMs: 7, nextAttemptAtMs: 9 },
    ];
    const head = { deliveryId: "a", eventId: "b", eventType: "anomaly.declared", anomalyId: "c", occurredAtMs: 1, createdAtMs: 2 };
    const row = { ...head, holdUntilMs: null, event: "{}", state: "pending", attempts: notes, nextAttemptAtMs: 9 };
    const progress = { state: "pending", attempts: 1, firstTriedAtMs: 7, nextAttemptAtMs: 9, error: "answered 503" };
    expect(EVENT_ROW.decode(json(row))).toEqual({ ...head, holdUntilMs: null, event: "{}", ...progress, notes });
    const held = { ...row, state: "gathering", attempts: [], nextAttemptAtMs: 0, event: null, holdUntilMs: 5 };
    expect(EVENT_ROW.decode(json(held))).toMatchObject({ state: "held", attempts: 0, firstTriedAtMs: null, error: null, notes: [] });
    expect(EVENT_ROW.decode(json({ ...row, state: "succeeded" })).state).toBe("delivered");
  });

  it("of the outbox is read, and one of now as it was", () => {
    expect(decodeEntry(json({ lane: "l" }), jsonEntry)).toEqual({ receiver: "l", isUrgent: false });
    expect(decodeEntry(json({ lane: "l", isPage: true }), jsonEntry)).toEqual({ receiver: "l", isUrgent: true });
    for (const isUrgent of [false, true])
      expect(decodeEntry(encodeEntry({ receiver: "l", isUrgent }), jsonEntry)).toEqual({ receiver: "l", isUrgent });
  });
});
