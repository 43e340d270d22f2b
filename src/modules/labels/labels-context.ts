// What the handlers of labels use.
import type { Changing, ChangingBeside } from "../access/changes.ts";
import type { Using } from "../queries/query-context.ts";
import type { LabelBook } from "./label-book.ts";

export interface LabelBooks {
  readonly labels: LabelBook;
}

export type LabelsContext = Using<"nowMs" | "pause" | "yieldToLoop", unknown, LabelBooks> & Changing & ChangingBeside;
