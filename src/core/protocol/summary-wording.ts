// Wording of a summary by a language model, where one is configured: asked for by the coordinator, done by main, which has the key.

export interface SummaryWanted {
  readonly type: "summary-wanted";
  readonly id: number;
  /** The sentences by rule and their evidence: names, numbers and masked templates. */
  readonly facts: string;
}

export interface SummaryWorded {
  readonly type: "summary-worded";
  readonly id: number;
  /** Null where the model was not reached in time, or said nothing that can be shown. */
  readonly text: string | null;
}
