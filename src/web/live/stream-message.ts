/** What the worker of the event stream tells a tab. */
export type StreamMessage =
  | { readonly type: "state"; readonly state: "connecting" | "live" | "offline" }
  | {
      readonly type: "events";
      readonly events: ReadonlyArray<{ readonly event: string; readonly data: string }>;
      readonly dropped: number;
    };
