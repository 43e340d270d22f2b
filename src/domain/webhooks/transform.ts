// A tenant's program that makes the payload of an event (contract 6.3), and what comes of running it.

/** `expression` of jq; `code` of the others, which defines a function `transform`. */
export interface Transform {
  readonly type: "jq" | "javascript" | "python";
  readonly expression: string | null;
  readonly code: string | null;
}

/** `payload`: text of the body to send. `dropped`: the program gave nothing, so nothing is sent. `retry`: the failure is none of the program's. */
export type TransformOutcome =
  | { readonly kind: "payload"; readonly json: string }
  | { readonly kind: "dropped"; readonly error: string }
  | { readonly kind: "failed"; readonly error: string; readonly line: number | null; readonly retry: boolean };

/** Runner of transforms. */
export interface EventTransforms {
  /** Runs a transform on the JSON of an event. Never rejects; waits for its turn as long as that takes. */
  transformEvent(tenant: string, transform: Transform, eventJson: string): Promise<TransformOutcome>;
}
