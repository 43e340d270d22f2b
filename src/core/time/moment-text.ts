/** A moment as people read it in a sentence: "2026-11-27 03:05:00 UTC". */
export function momentText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
