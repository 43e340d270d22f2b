/** Message of the event stream's worker to a tab. */
export type StreamMessage =
  | { readonly type: "state"; readonly state: "connecting" | "live" | "offline" }
  | {
      readonly type: "events";
      readonly events: ReadonlyArray<{ readonly event: string; readonly data: string }>;
      readonly dropped: number;
    };
