import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { channelText, parseChannel } from "../../../../src/domain/notification/channel.ts";
import { type DestinationSettings, defaultChannels, resolveChannel } from "../../../../src/domain/notification/destinations.ts";
import { parseNamedSecrets } from "../../../../src/domain/notification/named-destinations.ts";
import { globMatches, inOrder, type RoutingRule, type RoutingSubject, routeOf } from "../../../../src/domain/notification/routing-rule.ts";

const RULE: RoutingRule = {
  id: "r",
  name: "any",
  priority: 10,
  labelMatchers: {},
  servicePattern: null,
  severity: null,
  source: null,
  environment: null,
  channels: ["chat"],
  createdAtMs: 0,
};
const SUBJECT: RoutingSubject = {
  serviceId: "shop/checkout.v2",
  severity: "high",
  source: "metric",
  environment: "production",
  labels: { team: "payments" },
};
const rule = (more: Partial<RoutingRule>): RoutingRule => ({ ...RULE, ...more });

describe("routing rules", () => {
  it("are asked by priority, then by age; the first that matches wins and those before it say what failed", () => {
    const rules = inOrder([
      rule({ id: "late", priority: 5, createdAtMs: 9 }),
      rule({ id: "team", priority: 1, labelMatchers: { team: "search" } }),
      rule({ id: "low", priority: 2, severity: "low" }),
      rule({ id: "glob", priority: 3, servicePattern: "search*" }),
      rule({ id: "source", priority: 3, source: "alertmanager", createdAtMs: 1 }),
      rule({ id: "staging", priority: 4, environment: "staging" }),
      rule({ id: "early", priority: 5, createdAtMs: 3 }),
    ]);
    const route = routeOf(rules, SUBJECT);
    expect(route.rule?.id).toBe("early");
    expect(route.skipped).toEqual([
      { ruleId: "team", failedMatcher: "label_matchers" },
      { ruleId: "low", failedMatcher: "severity" },
      { ruleId: "glob", failedMatcher: "service_pattern" },
      { ruleId: "source", failedMatcher: "source" },
      { ruleId: "staging", failedMatcher: "environment" },
    ]);
  });

  it("name labels that every object has as absent ones", () => {
    expect(routeOf([rule({ labelMatchers: { constructor: "x" } })], SUBJECT).rule).toBeNull();
  });
});

describe("a glob", () => {
  it.each([
    ["*", "", true],
    ["shop*", "shop/checkout.v2", true],
    ["*v?", "shop/checkout.v2", true],
    ["shop/checkout.v", "shop/checkout.v2", false],
    ["Shop*", "shop", false],
    ["a[b]", "a[b]", true],
    ["a[b]", "ab", false],
  ])("%s of %s: %s", (glob, text, expected) => {
    expect(globMatches(glob, text)).toBe(expected);
  });

  it("is the pattern it stands for", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "."), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (glob, name) => {
        const pattern = [...glob]
          .map((sign) => (sign === "*" ? ".*" : sign === "?" ? "." : `\\${sign}`.replace(/\\([ab])/, "$1")))
          .join("");
        expect(globMatches(glob, name)).toBe(new RegExp(`^${pattern}$`, "su").test(name));
      }),
      { numRuns: 2_000 },
    );
  });

  it("takes no more than the product of both lengths", () => {
    expect(globMatches(`${"*a".repeat(500)}b`, "a".repeat(1_000))).toBe(false);
  });
});

describe("a channel", () => {
  it.each(["chat", "pager", "chat:ops", "pager:night", "email:ops+night@example.com", "oncall:Payments team"])("%s is one", (text) => {
    const channel = parseChannel(text);
    expect(typeof channel === "string" ? channel : channelText(channel)).toBe(text);
  });

  it("takes Slack's sign ahead of a name", () => {
    expect(parseChannel("chat:#ops")).toEqual({ notifier: "chat", target: "ops" });
  });

  it.each(["email", "oncall", "sms:1", "", "chat:", "chat:a b", "email:a@b@c", "email:a\n@b", "oncall:a\nb", `chat:${"x".repeat(400)}`])(
    "%j is none",
    (text) => {
      expect(typeof parseChannel(text)).toBe("string");
    },
  );
});

const SETTINGS: DestinationSettings = {
  chat: {
    named: [
      { tenant: "default", name: "ops" },
      { tenant: "acme", name: "ops" },
      { tenant: "*", name: "status" },
    ],
    enabled: true,
    initial: null,
  },
  pager: { named: [{ tenant: "default", name: "night" }], enabled: true, initial: "" },
  email: { named: [], enabled: true, initial: "ops@example.com", allowedDomains: ["example.com"] },
  oncall: { named: [], enabled: true, initial: null },
};

describe("destinations", () => {
  it("are found by tenant and name, and fall back to the notifier's default", () => {
    const resolve = (tenant: string, text: string) => resolveChannel(SETTINGS, tenant, parseChannel(text) as never);
    expect(resolve("default", "chat:ops")).toEqual({
      destination: { notifier: "chat", tenant: "default", target: "ops" },
      fallback: false,
    });
    expect(resolve("acme", "chat:ops").destination?.tenant).toBe("acme");
    expect(resolve("acme", "chat:status").destination?.tenant).toBe("*");
    expect(resolve("default", "chat:gone")).toEqual({
      destination: { notifier: "chat", tenant: "default", target: "ops" },
      fallback: true,
    });
    expect(resolve("default", "pager:gone")).toEqual({ destination: { notifier: "pager", tenant: "default", target: "" }, fallback: true });
    expect(resolve("default", "email:a@example.com").fallback).toBe(false);
    expect(resolve("default", "email:a@elsewhere.example")).toMatchObject({ destination: { target: "ops@example.com" }, fallback: true });
  });

  it("D7: an address is told itself, of any tenant, unless EMAIL_ALLOWED_DOMAINS narrows it", () => {
    const anywhere = { ...SETTINGS, email: { ...SETTINGS.email, allowedDomains: [] } };
    for (const tenant of ["default", "acme"]) {
      const found = resolveChannel(anywhere, tenant, parseChannel("email:a@elsewhere.example") as never);
      expect(found).toEqual({ destination: { notifier: "email", tenant, target: "a@elsewhere.example" }, fallback: false });
    }
  });

  it("of one tenant are not another's", () => {
    for (const text of ["pager", "pager:night", "oncall:payments", "email:a@elsewhere.example"]) {
      expect(resolveChannel(SETTINGS, "acme", parseChannel(text) as never).destination).toBeNull();
    }
    expect(defaultChannels(SETTINGS, "default").map(channelText)).toEqual(["chat", "pager", "email:ops@example.com"]);
    expect(defaultChannels(SETTINGS, "acme").map(channelText)).toEqual(["chat"]);
    expect(defaultChannels({ ...SETTINGS, chat: { ...SETTINGS.chat, named: [] } }, "acme")).toEqual([]);
  });

  it("are read from a setting, whose problems show no secret", () => {
    expect(parseNamedSecrets("#ops=https://a/1?x=y, acme/ops=https://b, */all=c")).toEqual([
      { tenant: "default", name: "ops", secret: "https://a/1?x=y" },
      { tenant: "acme", name: "ops", secret: "https://b" },
      { tenant: "*", name: "all", secret: "c" },
    ]);
    for (const text of ["https://hooks.example/s3cret", "ops=", "a=1,a=2", "a b=1"]) {
      const problem = parseNamedSecrets(text);
      expect(problem).toBeTypeOf("string");
      expect(problem).not.toContain("s3cret");
    }
  });
});
