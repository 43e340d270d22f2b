// A wait that holds its thread, for the few places that must not go on before the time is over.

const NEVER_RUNG = new Int32Array(new SharedArrayBuffer(4));

export function waitBlocking(ms: number): void {
  Atomics.wait(NEVER_RUNG, 0, 0, ms);
}
