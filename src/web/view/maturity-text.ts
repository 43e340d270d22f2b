// How well the baseline of a series or service is known, in words.
const TEXTS: Readonly<Record<string, string>> = { young: "baseline: learning", settling: "baseline: settling", mature: "baseline: ready" };

/** Maturity as the server answers it, in words. */
export function maturityText(maturity: string): string {
  return TEXTS[maturity] ?? `baseline: ${maturity}`;
}
