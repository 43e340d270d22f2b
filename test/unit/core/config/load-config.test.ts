import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSettingFile } from "../../../../src/adapters/credentials/setting-file.ts";
import { ConfigError } from "../../../../src/core/config/config-error.ts";
import { SECRET_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import { loadConfig, readSettings, SETTINGS, secret } from "../../../../src/core/config/load-config.ts";
import { Secret } from "../../../../src/core/text/secret.ts";

const VALUE = "correct horse battery staple";
const TABLE = [secret("SIGNING_SECRET", "signs things")] as const;

/** The message with which the settings are refused. */
function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error("the settings were taken");
}

describe("settings", () => {
  const cases: Array<[title: string, environment: Record<string, string>, expected: string]> = [
    ["an old name", { AIOPS_WATCHDOG_INTERVAL: "60" }, "AIOPS_WATCHDOG_INTERVAL was renamed WATCHDOG_INTERVAL_SECONDS; set that instead"],
    [
      "an old name, empty",
      { AIOPS_WATCHDOG_INTERVAL: "" },
      "AIOPS_WATCHDOG_INTERVAL was renamed WATCHDOG_INTERVAL_SECONDS; set that instead",
    ],
    ["text for a number", { PORT: "http" }, 'PORT must be a whole number from 0 to 65535, not "http"'],
    ["a number out of its bounds", { PORT: "65536" }, 'PORT must be a whole number from 0 to 65535, not "65536"'],
    [
      "a number that is too large for any",
      { SERIES_LIMIT: "1e400" },
      'SERIES_LIMIT must be a whole number from 1 to 100000000, not "1e400"',
    ],
    ["no choice", { LOG_LEVEL: "loud" }, 'LOG_LEVEL must be one of info, debug, warn, error, not "loud"'],
    ["an empty text", { HOST: "" }, 'HOST is set but empty; unset it to take the default "127.0.0.1"'],
  ];
  it.each(cases)("refuses %s in one line that names it", (_title, environment, expected) => {
    expect(refusal(() => loadConfig(environment, readSettingFile))).toBe(expected);
  });

  it("takes the defaults where nothing is set", () => {
    const config = loadConfig({}, readSettingFile) as Record<string, unknown>;
    for (const { name, initial, kind } of SETTINGS.map((setting) => ({ ...setting }))) {
      expect(config[name], name).toBe((kind as string) === "secret" ? undefined : initial);
    }
  });
});

describe("a secret setting", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "vedette-secret-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function file(name: string, content: string | Uint8Array): string {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }
  const read = (environment: Record<string, string>) => readSettings(TABLE, environment, readSettingFile).SIGNING_SECRET;

  it("is undefined when it is not set", () => expect(read({})).toBeUndefined());

  it("comes from its variable as it stands", () => expect(read({ SIGNING_SECRET: ` ${VALUE}\n` })?.reveal()).toBe(` ${VALUE}\n`));

  const contents: Array<[title: string, content: string, expected: string]> = [
    ["with a newline at its end", `${VALUE}\n`, VALUE],
    ["with a carriage return and a newline", `${VALUE}\r\n`, VALUE],
    ["without a newline", VALUE, VALUE],
    ["with spaces, which belong to it", ` ${VALUE} \n`, ` ${VALUE} `],
    ["with several lines: only the last newline goes", "-----BEGIN\nAAAA\n-----END\n\n", "-----BEGIN\nAAAA\n-----END\n"],
    ["of the largest size", "x".repeat(SECRET_BYTES_MAX), "x".repeat(SECRET_BYTES_MAX)],
  ];
  it.each(contents)("comes from a file %s", (_title, content, expected) => {
    expect(read({ SIGNING_SECRET_FILE: file("secret", content) })?.reveal()).toBe(expected);
  });

  it("comes from a pipe, as the shell's <(command) gives it", () => {
    const loader = new URL("../../../../scripts/typescript-loader.mjs", import.meta.url).href;
    const module = new URL("../../../../src/adapters/credentials/setting-file.ts", import.meta.url).href;
    const script = `import { readSettingFile } from ${JSON.stringify(module)}; process.stdout.write(readSettingFile("/dev/stdin", 1000))`;
    const run = [process.execPath, "--import", loader, "--input-type=module", "-e", script];
    const text = execFileSync("sh", ["-c", 'printf %s "$SIGNING_SECRET" | "$@"', "sh", ...run], {
      env: { ...process.env, SIGNING_SECRET: VALUE },
      encoding: "utf8",
    });
    expect(text).toBe(VALUE);
  });

  const refused: Array<[title: string, environment: () => Record<string, string>, expected: string]> = [
    [
      "both variables",
      () => ({ SIGNING_SECRET: VALUE, SIGNING_SECRET_FILE: file("both", VALUE) }),
      "SIGNING_SECRET and SIGNING_SECRET_FILE are both set; unset one of them",
    ],
    ["an empty value", () => ({ SIGNING_SECRET: "" }), "SIGNING_SECRET is set but empty; give it a value or unset it"],
    ["a value that is too long", () => ({ SIGNING_SECRET: VALUE.repeat(3000) }), "SIGNING_SECRET is longer than 65536 bytes"],
    ["an empty file name", () => ({ SIGNING_SECRET_FILE: "" }), "SIGNING_SECRET_FILE is set but empty; name a file or unset it"],
    [
      "a file that is not there",
      () => ({ SIGNING_SECRET_FILE: join(folder, VALUE) }),
      "SIGNING_SECRET_FILE names a file that cannot be read (ENOENT)",
    ],
    ["a folder", () => ({ SIGNING_SECRET_FILE: folder }), "SIGNING_SECRET_FILE names a file that cannot be read (EISDIR)"],
    [
      "the secret in the place of a file's name",
      () => ({ SIGNING_SECRET_FILE: VALUE }),
      "SIGNING_SECRET_FILE names a file that cannot be read (ENOENT)",
    ],
    [
      "an empty file",
      () => ({ SIGNING_SECRET_FILE: file("empty", "\n") }),
      "SIGNING_SECRET_FILE names a file that is empty; write the secret into it",
    ],
    [
      "a file that is too long",
      () => ({ SIGNING_SECRET_FILE: file("long", VALUE.repeat(3000)) }),
      "SIGNING_SECRET_FILE names a file of more than 65536 bytes",
    ],
    ["a file that never ends", () => ({ SIGNING_SECRET_FILE: "/dev/zero" }), "SIGNING_SECRET_FILE names a file of more than 65536 bytes"],
    [
      "a file that is not text",
      () => ({ SIGNING_SECRET_FILE: file("binary", Uint8Array.of(0xff, 0xfe, 0)) }),
      "SIGNING_SECRET_FILE names a file that is not UTF-8 text",
    ],
  ];
  it.each(refused)("is refused with %s, in one line that shows no value", (_title, environment, expected) => {
    const message = refusal(() => read(environment()));
    expect(message).toBe(expected);
    expect(message).not.toContain(VALUE);
  });

  it("is not shown in whatever form the configuration is printed", () => {
    const config = readSettings(TABLE, { SIGNING_SECRET: VALUE }, readSettingFile);
    const shown = [
      String(config.SIGNING_SECRET),
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      inspect(structuredClone(config), { depth: 9, showHidden: true }),
      Object.values({ ...config.SIGNING_SECRET }).join(),
    ];
    for (const text of shown) expect(text).not.toContain(VALUE);
    expect(config.SIGNING_SECRET).toBeInstanceOf(Secret);
  });
});
