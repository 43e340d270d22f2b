import { describe, expect, it } from "vitest";
import { ConfigError, describeSettings, loadConfig } from "../../src/core/config/load-config.ts";

const SECRET = "a secret of the tests, 32 bytes or more";
const files: Readonly<Record<string, string>> = { "/run/secrets/jwt": `${SECRET}\n` };
function readFile(path: string): string {
  const text = files[path];
  if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
  return text;
}
const load = (environment: Record<string, string>) => loadConfig(environment, readFile);

describe("secrets among the settings", () => {
  it("stand in their variable, or in the file that another names", () => {
    expect(load({}).JWT_SECRET).toBe("");
    expect(load({ JWT_SECRET: SECRET }).JWT_SECRET).toBe(SECRET);
    expect(load({ JWT_SECRET_FILE: "/run/secrets/jwt" }).JWT_SECRET).toBe(SECRET);
  });

  it("in two places, or in a file that is not there, stop the start", () => {
    expect(() => load({ JWT_SECRET: SECRET, JWT_SECRET_FILE: "/run/secrets/jwt" })).toThrow(ConfigError);
    expect(() => load({ JWT_SECRET_FILE: "/nowhere" })).toThrow(/JWT_SECRET_FILE cannot be read/);
    expect(() => load({ JWT_SECRET: "" })).toThrow(/JWT_SECRET is set but empty/);
  });

  it("are no other settings: a file is not looked at for those", () => {
    expect(load({ HOST_FILE: "/nowhere" }).HOST).toBe("127.0.0.1");
  });

  it("are told of in the help", () => expect(describeSettings()).toContain("JWT_SECRET_FILE"));
});
