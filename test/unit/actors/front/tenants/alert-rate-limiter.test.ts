import { describe, expect, it } from "vitest";
import { AlertRateLimiter } from "../../../../../src/actors/front/tenants/alert-rate-limiter.ts";
import { ERROR_STATUS } from "../../../../../src/api/refusal.ts";
import {
  ALERT_ADDRESSES_MAX,
  ALERT_REQUESTS_PER_ADDRESS_MAX,
  ALERT_REQUESTS_PER_SECOND_MAX,
} from "../../../../../src/core/config/analysis-limits.ts";

const admitted = (refuse: () => unknown, requests: number) =>
  Array.from({ length: requests }, refuse).filter((each) => each === undefined).length;

describe("the gate of alerts", () => {
  it("takes a second's requests of each tenant and of each address", () => {
    const gate = new AlertRateLimiter();
    expect(admitted(() => gate.refuseTenant("a", 0), 500)).toBe(ALERT_REQUESTS_PER_SECOND_MAX);
    expect(admitted(() => gate.refuseTenant("b", 0), 10)).toBe(10);
    expect(admitted(() => gate.refuseAddress("10.0.0.1", 0), 500)).toBe(ALERT_REQUESTS_PER_ADDRESS_MAX);
    expect(admitted(() => gate.refuseAddress("10.0.0.2", 0), 10)).toBe(10);
    expect(admitted(() => gate.refuseTenant("a", 1_000), 500)).toBe(ALERT_REQUESTS_PER_SECOND_MAX);
  });

  it("refuses with 503: an Alertmanager sends again after it, and not after 429", () => {
    const gate = new AlertRateLimiter();
    admitted(() => gate.refuseTenant("a", 0), 500);
    const refusal = gate.refuseTenant("a", 0);
    expect(refusal).toMatchObject({ message: expect.stringContaining("send it again") });
    expect(refusal && ERROR_STATUS[refusal.code]).toBe(503);
  });

  it("forgets addresses that rest", () => {
    const gate = new AlertRateLimiter();
    for (let i = 0; i < 3 * ALERT_ADDRESSES_MAX; i++) expect(gate.refuseAddress(`address ${i}`, i * 1_000)).toBeUndefined();
  });
});
