// Files of tests of rules, as promtool reads them (cmd/promtool/unittest.go): unknown members are faults.

import { MINUTE_MS } from "../../../core/time/durations.ts";
import { parseRfc3339 } from "../../../core/time/rfc3339.ts";
import { Labels } from "../../promql/labels/labels.ts";
import { parseFloat64 } from "../../promql/parser/number-text.ts";
import { FieldReader } from "../file/field-reader.ts";
import { RuleFileError, readYamlTree, type YamlTree } from "../file/yaml-tree.ts";

/** Series of a test's input, not yet read. */
export interface WrittenSeries {
  readonly series: string;
  readonly values: string;
}

/** Alerts that must fire at a moment, and no others of their rule. */
export interface AlertExpectation {
  readonly timeMs: number;
  readonly alertName: string;
  readonly alerts: ReadonlyArray<{ readonly labels: Labels; readonly annotations: Labels }>;
}

/** A sample that an expression must have. */
export interface ExpectedSample {
  readonly labels: string;
  readonly value: number;
  readonly histogram: string;
}

/** Samples that an expression must have at a moment. */
export interface ExpressionExpectation {
  readonly timeMs: number;
  readonly expression: string;
  readonly samples: readonly ExpectedSample[];
}

/** One test; moments of expectations count from its start. */
export interface RuleTest {
  readonly name: string;
  readonly startMs: number;
  readonly intervalMs: number;
  readonly input: readonly WrittenSeries[];
  readonly alerts: readonly AlertExpectation[];
  readonly expressions: readonly ExpressionExpectation[];
  readonly externalLabels: Labels;
  readonly externalUrl: string;
}

/** A file of tests as it was written. */
export interface RuleTestFile {
  readonly rulePaths: readonly string[];
  readonly evaluationIntervalMs: number;
  readonly groupOrder: readonly string[];
  readonly isFuzzy: boolean;
  readonly tests: readonly RuleTest[];
}

const FILE_FIELDS = ["rule_files", "evaluation_interval", "group_eval_order", "tests", "fuzzy_compare"] as const;
const TEST_FIELDS = [
  "interval",
  "input_series",
  "alert_rule_test",
  "promql_expr_test",
  "external_labels",
  "external_url",
  "name",
  "start_timestamp",
] as const;

/** Reads a file. `canIgnore`: unknown members are left out. Throws RuleFileError. */
export function readRuleTestFile(text: string, canIgnore: boolean): RuleTestFile {
  const reader = new FieldReader(canIgnore);
  const root = reader.record(readYamlTree(text), "main.unitTestFile", FILE_FIELDS);
  const evaluationIntervalMs = reader.durationMs(root.get("evaluation_interval")) || MINUTE_MS;
  const groupOrder = reader.list(root.get("group_eval_order"), "string").map((tree) => reader.text(tree));
  const file = {
    rulePaths: reader.list(root.get("rule_files"), "string").map((tree) => reader.text(tree)),
    evaluationIntervalMs,
    groupOrder,
    isFuzzy: reader.boolean(root.get("fuzzy_compare")),
    tests: reader.list(root.get("tests"), "main.testGroup").map((tree) => readTest(tree, reader, evaluationIntervalMs)),
  };
  reader.finish();
  const repeated = groupOrder.find((name, index) => groupOrder.indexOf(name) !== index);
  if (repeated !== undefined) throw new RuleFileError(`group name repeated in evaluation order: ${repeated}`);
  return file;
}

function readTest(tree: YamlTree, reader: FieldReader, evaluationIntervalMs: number): RuleTest {
  const fields = reader.record(tree, "main.testGroup", TEST_FIELDS);
  return {
    name: reader.text(fields.get("name")),
    startMs: startMs(reader.text(fields.get("start_timestamp"))),
    intervalMs: reader.durationMs(fields.get("interval")) || evaluationIntervalMs,
    input: reader.list(fields.get("input_series"), "main.series").map((item) => {
      const series = reader.record(item, "main.series", ["series", "values"]);
      return { series: reader.text(series.get("series")), values: reader.text(series.get("values")) };
    }),
    alerts: reader.list(fields.get("alert_rule_test"), "main.alertTestCase").map((item) => readAlerts(item, reader)),
    expressions: reader.list(fields.get("promql_expr_test"), "main.promqlTestCase").map((item) => readExpression(item, reader)),
    externalLabels: Labels.of(reader.texts(fields.get("external_labels"))),
    externalUrl: reader.text(fields.get("external_url")),
  };
}

/** A moment, or seconds since 1970. */
function startMs(text: string): number {
  if (text === "") return 0;
  const seconds = parseFloat64(text);
  const ms = seconds === undefined ? parseRfc3339(text) : Math.round(seconds * 1_000);
  if (ms === undefined) throw new RuleFileError(`invalid start_timestamp format, must be RFC3339 or Unix timestamp: ${text}`);
  return ms;
}

function readAlerts(tree: YamlTree, reader: FieldReader): AlertExpectation {
  const fields = reader.record(tree, "main.alertTestCase", ["eval_time", "alertname", "exp_alerts"]);
  return {
    timeMs: reader.durationMs(fields.get("eval_time")) ?? 0,
    alertName: reader.text(fields.get("alertname")),
    alerts: reader.list(fields.get("exp_alerts"), "main.alert").map((item) => {
      const alert = reader.record(item, "main.alert", ["exp_labels", "exp_annotations"]);
      return {
        labels: Labels.of(reader.texts(alert.get("exp_labels"))),
        annotations: Labels.of(reader.texts(alert.get("exp_annotations"))),
      };
    }),
  };
}

function readExpression(tree: YamlTree, reader: FieldReader): ExpressionExpectation {
  const fields = reader.record(tree, "main.promqlTestCase", ["expr", "eval_time", "exp_samples"]);
  return {
    expression: reader.text(fields.get("expr")),
    timeMs: reader.durationMs(fields.get("eval_time")) ?? 0,
    samples: reader.list(fields.get("exp_samples"), "main.sample").map((item) => {
      const sample = reader.record(item, "main.sample", ["labels", "value", "histogram"]);
      return {
        labels: reader.text(sample.get("labels")),
        value: reader.number(sample.get("value")),
        histogram: reader.text(sample.get("histogram")),
      };
    }),
  };
}
