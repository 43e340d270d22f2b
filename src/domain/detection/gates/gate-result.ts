// The shape in which every rule answers: what was compared with what, and whether it let the finding through. Verdicts, the ledger and the
// backtest read nothing else.

/** One condition on the way to an alert; `value` and `limit` are in the gate's own unit. */
export interface GateResult {
  readonly name: string;
  readonly passed: boolean;
  readonly value: number;
  readonly limit: number;
}

/** Passes where value >= limit; never for a NaN. */
export function atLeast(name: string, value: number, limit: number): GateResult {
  return { name, passed: value >= limit, value, limit };
}

/** Passes where value > limit; never for a NaN. */
export function above(name: string, value: number, limit: number): GateResult {
  return { name, passed: value > limit, value, limit };
}

/** Passes where value <= limit; never for a NaN. */
export function atMost(name: string, value: number, limit: number): GateResult {
  return { name, passed: value <= limit, value, limit };
}

/** Passes where value < limit; never for a NaN. */
export function below(name: string, value: number, limit: number): GateResult {
  return { name, passed: value < limit, value, limit };
}

/** A condition that holds or not: value 1 or 0 against limit 1. */
export function holds(name: string, condition: boolean): GateResult {
  return { name, passed: condition, value: condition ? 1 : 0, limit: 1 };
}

/** The first gate that does not pass, which names the suppression; undefined where all pass. */
export function firstFailed(gates: readonly GateResult[]): GateResult | undefined {
  return gates.find((gate) => !gate.passed);
}
