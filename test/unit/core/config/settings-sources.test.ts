import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../src/core/config/config-error.ts";
import { resolveSettings } from "../../../../src/core/config/settings-sources.ts";
import { editDistance, nearestName } from "../../../../src/core/text/nearest-name.ts";

const PATH = "/etc/vedette/vedette.env";
const file = (text: string) => ({ path: PATH, text });

describe("names", () => {
  it.each([
    ["", "", 0],
    ["POTR", "PORT", 1],
    ["PORT", "PORTS", 1],
    ["HOTS", "PORT", 3],
    ["kitten", "sitting", 3],
  ])("%j and %j are %i edits apart", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
    expect(editDistance(b, a)).toBe(distance);
  });

  it("have a nearest one, where one is near", () => {
    expect(nearestName("RETENTON_DAYS", ["RETENTION_DAYS", "RETENTION_RAW_DAYS"])).toBe("RETENTION_DAYS");
    expect(nearestName("COLOUR", ["PORT", "HOST"])).toBeUndefined();
    expect(nearestName("x".repeat(10_000), ["x"])).toBeUndefined();
  });
});

describe("sources of settings", () => {
  it("go in their order: the prefix, the bare name, the file", () => {
    const text =
      'PORT=1\nHOST=a\n# a comment\n; another\n\nVEDETTE_LOG_LEVEL = debug\nPUBLIC_URL="https://x/?a=\\"b\\""\nSMTP_FROM=\'a b\'\n';
    const { environment } = resolveSettings({ VEDETTE_PORT: "3", PORT: "2", HOST: "b", PATH: "/bin" }, file(text));
    expect(environment).toMatchObject({
      PORT: "3",
      HOST: "b",
      LOG_LEVEL: "debug",
      PUBLIC_URL: 'https://x/?a="b"',
      SMTP_FROM: "a b",
      PATH: "/bin",
    });
  });

  it("take both names of a secret from the weaker ones", () => {
    const { environment } = resolveSettings({ VEDETTE_JWT_SECRET_FILE: "/run/secret" }, file("JWT_SECRET=short"));
    expect([environment.JWT_SECRET, environment.JWT_SECRET_FILE]).toEqual([undefined, "/run/secret"]);
    const both = resolveSettings({ JWT_SECRET: "a", JWT_SECRET_FILE: "b" }).environment;
    expect([both.JWT_SECRET, both.JWT_SECRET_FILE]).toEqual(["a", "b"]); // which load-config.ts refuses
  });

  const refused: Array<[environment: Record<string, string>, text: string | undefined, message: string]> = [
    [{ VEDETTE_POTR: "1" }, undefined, "VEDETTE_POTR is no setting; did you mean VEDETTE_PORT? (vedette --help lists them)"],
    [{ VEDETTE_COLOUR: "1" }, undefined, "VEDETTE_COLOUR is no setting (vedette --help lists them)"],
    [{}, "HOST=a\nPOTR=1", `${PATH} line 2: POTR is no setting; did you mean PORT? (vedette --help lists them)`],
    [{}, "what is this", `${PATH} line 1 is no NAME=VALUE`],
    [{}, "PORT=1\nVEDETTE_PORT=2", `${PATH} line 2: VEDETTE_PORT was set above; keep one of the lines`],
    [{}, 'HOST="a', `${PATH} line 1: the quote " has no end`],
  ];
  it.each(refused)("refuse %j with %j in one line that names the nearest", (environment, text, message) => {
    expect(() => resolveSettings(environment, text === undefined ? undefined : file(text))).toThrow(new ConfigError(message));
  });

  it("warn of a bare name that is one letter off, and of no other", () => {
    expect(resolveSettings({ POTR: "1", HOME: "/root", HOSTNAME: "x", PORTX: "1" }).warnings).toEqual([
      "POTR is set, which is no setting; did you mean PORT?",
      "PORTX is set, which is no setting; did you mean PORT?",
    ]);
    expect(resolveSettings({ VEDETTE_TOKEN: "t", VEDETTE_URL: "u" }).warnings).toEqual([]);
  });

  it("keep an old name for the refusal that names its successor", () => {
    expect(resolveSettings({ VEDETTE_AIOPS_WATCHDOG_INTERVAL: "60" }).environment.AIOPS_WATCHDOG_INTERVAL).toBe("60");
  });
});
