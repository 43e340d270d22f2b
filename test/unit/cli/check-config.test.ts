// `vedette check-config` says all that is wrong in one run, and what an operator may not have meant.
import { describe, expect, it } from "vitest";
import { checkAllSettings } from "../../../src/cli/check-config.ts";

const warningsOf = (environment: Record<string, string>) => checkAllSettings(environment, undefined).warnings;

describe("check-config", () => {
  it("B17: names misspelt names, numbers, choices and URLs together, of file and environment", () => {
    const file = { path: "vedette.conf", text: "PORTT=1\nRETENTION_DAYS=x\nno line\n" };
    const environment = {
      VEDETTE_HOSTT: "::1",
      PORT: "eighty",
      HTTP_ENGINE: "fast",
      PUBLIC_URL: "ftp://x",
      CHAT_WEBHOOKS: "ops=nothing",
      DETECTION_TIMEZONE: "Mars/Olympus",
      SMTP_URL: "smtp://mail:25",
    };
    const { problems } = checkAllSettings(environment, file);
    const said = [
      /^VEDETTE_HOSTT is no setting.*HOST/,
      /line 1: PORTT is no setting/,
      /line 3 is no NAME=VALUE/,
      /^PORT must be/,
      /^RETENTION_DAYS must be/,
      /^HTTP_ENGINE must be one of/,
      /^PUBLIC_URL is no URL/,
      /^CHAT_WEBHOOKS/,
      /^DETECTION_TIMEZONE/,
      /^SMTP_URL needs SMTP_FROM/,
    ];
    for (const one of said) expect(problems.filter((problem) => one.test(problem))).toHaveLength(1);
    expect(problems).toHaveLength(said.length);
  });
  it("B17: warns of an open HOST, and of channels without PUBLIC_URL", () => {
    for (const HOST of ["0.0.0.0", "::", "10.0.0.7", "vedette.example"])
      expect(warningsOf({ HOST })).toEqual([expect.stringMatching(/INGEST_AUTH=required.*READ_AUTH/)]);
    for (const HOST of ["127.0.0.1", "127.8.8.8", "::1", "localhost"]) expect(warningsOf({ HOST })).toEqual([]);
    expect(warningsOf({ HOST: "::", INGEST_AUTH: "required" })).toEqual([]);
    const channels = { CHAT_WEBHOOK_URL: "https://chat.example/x", PAGER_ROUTING_KEY: "k" };
    expect(warningsOf(channels)).toEqual([expect.stringMatching(/CHAT_WEBHOOK_URL, PAGER_ROUTING_KEY are set and PUBLIC_URL is not/)]);
    expect(warningsOf({ ...channels, PUBLIC_URL: "https://vedette.example" })).toEqual([]);
  });
  it("finds nothing where all is in order", () => {
    expect(checkAllSettings({ PORT: "8081" }, undefined)).toEqual({ problems: [], warnings: [], set: ["PORT"] });
  });
});
