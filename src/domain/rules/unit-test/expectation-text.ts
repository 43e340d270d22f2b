// What a failed test of rules says, as promtool writes it (cmd/promtool/unittest.go).

import { formatPlain } from "../../../core/text/plain-number.ts";
import type { Labels } from "../../promql/labels/labels.ts";
import { formatDuration } from "../../promql/parser/duration-text.ts";
import { quote } from "../../promql/parser/quoted-text.ts";

/** An alert as tests compare it. */
export interface ComparedAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
}

/** A sample as tests compare it. */
export interface ComparedSample {
  readonly labels: Labels;
  readonly value: number;
  /** The text of a native histogram; empty for a float. */
  readonly histogram: string;
}

const ALERT_MARGIN = " ".repeat(12);

/** Alerts of a rule that are not the expected ones. */
export function alertFailure(
  test: string,
  rule: { readonly name: string; readonly timeMs: number },
  expected: readonly ComparedAlert[],
  found: readonly ComparedAlert[],
): string {
  const name = test === "" ? "" : `    name: ${test},\n`;
  const head = `${name}    alertname: ${rule.name}, time: ${formatDuration(rule.timeMs)}, \n`;
  return `${head}        exp:${alertsText(expected)}, \n        got:${alertsText(found)}`;
}

function alertsText(alerts: readonly ComparedAlert[]): string {
  if (alerts.length === 0) return "[]";
  const texts = alerts.map(
    ({ labels, annotations }, index) =>
      `\n${ALERT_MARGIN}${index}:\n${ALERT_MARGIN}  Labels:${labels}\n${ALERT_MARGIN}  Annotations:${annotations}`,
  );
  return `[${texts.join(",")}\n${ALERT_MARGIN}]`;
}

/** Samples of an expression that are not the expected ones. */
export function sampleFailure(
  expression: string,
  timeMs: number,
  expected: readonly ComparedSample[],
  found: readonly ComparedSample[],
): string {
  const head = `    expr: ${quote(expression)}, time: ${formatDuration(timeMs)},\n`;
  return `${head}        exp: ${samplesText(expected)}\n        got: ${samplesText(found)}`;
}

function samplesText(samples: readonly ComparedSample[]): string {
  if (samples.length === 0) return "nil";
  return samples.map(({ labels, value, histogram }) => `${labels} ${histogram === "" ? scientific(value) : histogram}`).join(", ");
}

/** Go's format `E` of as many digits as are needed. */
function scientific(value: number): string {
  if (!Number.isFinite(value)) return formatPlain(value);
  const [mantissa, power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  const sign = Object.is(value, -0) ? "-" : "";
  return `${sign}${mantissa}E${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
