// Puts a body into an engine's memory as the front does, and takes its answer at once, for rigs that read the body themselves.
import type { BodyPort } from "../../src/actors/front/body-port.ts";
import { SMALL_BODY_BYTES_MAX } from "../../src/core/config/limits.ts";

type Submitted = Parameters<BodyPort["submit"]>[0];

export function placeBody(
  port: BodyPort,
  body: Omit<Submitted, "arrivalMs" | "isAnonymous" | "sender"> & Partial<Pick<Submitted, "sender">>,
): void {
  const taken = port.submit({ sender: 0, ...body, arrivalMs: 0, isAnonymous: false }, { answer: () => {} });
  if (!taken) throw new Error("the body found no room");
  port.publish();
  const one = { status: 200, body: null, written: null };
  const isLarge = body.bytes.byteLength > SMALL_BODY_BYTES_MAX;
  port.answer(
    isLarge
      ? { counts: [], statuses: [], bodies: [], written: [], large: one, overtaken: [] }
      : { counts: [1], statuses: [200], bodies: [null], written: [null], large: null, overtaken: [] },
  );
}
