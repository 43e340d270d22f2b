// Matchers of labels as they are stored, in silences and in inhibition rules.
import type { LabelMatcher } from "../../domain/alerting/label-matcher.ts";
import { list, object, oneOf, text } from "../state/stored-json.ts";

export const MATCHERS = list(object<LabelMatcher>({ name: text, operator: oneOf(["=", "!=", "=~", "!~"]), value: text }));
