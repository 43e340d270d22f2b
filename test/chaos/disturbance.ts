// What chaos does to the server beside its real senders, and how it is counted.

/** Something that is done so many times a second; the same number does the same again. */
export interface Disturbance {
  readonly name: string;
  readonly perSecond: number;
  /** Does it once and says what was answered; 0 where nothing was. */
  once(number: number): Promise<number>;
  close(): void;
}

/** Where it is done, and as whom. */
export interface DisturbanceTarget {
  readonly seed: number;
  readonly ports: { readonly http: number; readonly otlp: number; readonly grpc: number; readonly alerts: number };
  /** Headers of an administrator of a tenant of its own, and of a viewer of the same. */
  readonly admin: Readonly<Record<string, string>>;
  readonly viewer: Readonly<Record<string, string>>;
}
