// What a look at the machine finds.

/** How bad it is. */
export type FindingState = "ok" | "warning" | "problem";

/** One finding. */
export interface MachineFinding {
  readonly subject: string;
  readonly state: FindingState;
  readonly what: string;
  /** Empty where nothing is to be done. */
  readonly advice: string;
}

/** A finding that is in order, unless there is trouble. */
export function finding(
  subject: string,
  what: string,
  trouble?: { readonly state: FindingState; readonly advice: string },
): MachineFinding {
  return { subject, what, state: trouble?.state ?? "ok", advice: trouble?.advice ?? "" };
}
