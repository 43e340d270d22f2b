// Templates of a rule's labels and annotations: what they see of an alert, and what stands there where one cannot be expanded (rules/alerting.go of Prometheus).
import type { Labels } from "../../promql/labels/labels.ts";
import { GoStruct, type GoValue } from "./go-value.ts";
import { RULE_FUNCTION_NAMES } from "./rule-functions.ts";
import { expandParsed } from "./template-expansion.ts";
import { TemplateError, type TemplateWorld } from "./template-function.ts";
import type { ParsedTemplate } from "./template-node.ts";
import { parseTemplate } from "./template-parser.ts";

const VARIABLES = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}";
const DATA_TYPE = "struct { Labels map[string]string; ExternalLabels map[string]string; ExternalURL string; Value interface {} }";

/** What a template is told of an alert. */
export interface AlertTemplateData {
  readonly labels: Labels;
  readonly externalLabels: Labels;
  readonly value: number;
}

/** A template of a rule: read once, expanded for each alert. */
export class AlertTemplate {
  readonly #parsed: ParsedTemplate | TemplateError;
  /** The text itself where it has no action. */
  readonly #plain: string | undefined;

  constructor(alertName: string, text: string) {
    this.#plain = text.includes("{{") ? undefined : text;
    this.#parsed = parsed(`__alert_${alertName}`, VARIABLES + text);
  }

  /** What is wrong with the template; undefined where nothing is. */
  get problem(): string | undefined {
    return this.#parsed instanceof TemplateError ? this.#parsed.message : undefined;
  }

  /** The text for an alert. A template that cannot be expanded becomes a text that says so. */
  expand({ labels, externalLabels, value }: AlertTemplateData, world: TemplateWorld): string {
    if (this.#plain !== undefined) return this.#plain;
    try {
      if (this.#parsed instanceof TemplateError) throw this.#parsed;
      const fields: ReadonlyArray<readonly [string, GoValue]> = [
        ["Labels", new Map(labels.entries())],
        ["ExternalLabels", new Map(externalLabels.entries())],
        ["ExternalURL", world.externalUrl],
        ["Value", value],
      ];
      return expandParsed(this.#parsed, new GoStruct(DATA_TYPE, new Map(fields)), world);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      const stage = this.#parsed instanceof TemplateError ? "parsing" : "executing";
      const name = /^template: ([^:]*):/.exec(error.message)?.[1] ?? "";
      return `<error expanding template: error ${stage} template ${name}: ${error.message}>`;
    }
  }
}

function parsed(name: string, source: string): ParsedTemplate | TemplateError {
  try {
    return parseTemplate(name, source, RULE_FUNCTION_NAMES);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}
