// Lines of the first steps, as a shell and Prometheus take them.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { KEY_TO_COME, sendLines } from "../../../../src/web/view/send-lines.ts";

const BASE = "https://vedette.example/observe";

/** Arguments that a shell hands to curl. */
function argumentsOf(line: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${line}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

const lineOf = (title: string, needsKey: boolean) => sendLines(BASE, needsKey).find((line) => line.title === title)?.text ?? "";

describe("B15: lines to copy", () => {
  it("carry a key where senders need one, each in its way", () => {
    expect(argumentsOf(lineOf("A value", true))).toEqual([
      ...["-H", `X-API-Key: ${KEY_TO_COME}`, "-H", "Content-Type: application/json", "-d"],
      expect.stringMatching(/^\{"service_id":"checkout","metric_name":"queue.depth","value":17,"timestamp":"[\dT:-]+Z"\}$/),
      `${BASE}/api/v1/telemetry`,
    ]);
    expect(lineOf("Prometheus", true).split("\n").slice(-2)).toEqual(["    authorization:", `      credentials: ${KEY_TO_COME}`]);
    expect(lineOf("OpenTelemetry", true)).toContain(`\nexport OTEL_EXPORTER_OTLP_HEADERS=X-API-Key=${KEY_TO_COME}`);
  });

  it("carry none where none is needed", () => {
    for (const { text } of sendLines(BASE, false)) expect(text).not.toMatch(/key|authorization/i);
    expect(argumentsOf(lineOf("A value", false)).slice(0, 2)).toEqual(["-H", "Content-Type: application/json"]);
  });
});
