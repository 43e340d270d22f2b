/** Sends of the lanes that are due; when the next lane is, null where none waits for a time. `send` sets its lane's next time. */
export function sendDue<L extends { readonly dueAtMs: number | null }>(
  lanes: Iterable<L>,
  nowMs: number,
  send: (lane: L) => void,
): number | null {
  let nextMs: number | null = null;
  for (const lane of lanes) {
    if (lane.dueAtMs !== null && lane.dueAtMs <= nowMs) send(lane);
    if (lane.dueAtMs !== null) nextMs = Math.min(nextMs ?? lane.dueAtMs, lane.dueAtMs);
  }
  return nextMs;
}
