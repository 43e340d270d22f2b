// The one line of a finding, which replays it. An HTTP connection hangs on its number alone; any other input on those before it, so they are run again too.

/** The line with the words REASON, INDEX (the input's number) and COUNT (one more) still to be replaced. */
export function replayLine({ target, seed, isHttp }: { readonly target: string; readonly seed: number; readonly isHttp: boolean }): string {
  const replay = isHttp ? "FUZZ_FROM=INDEX FUZZ_INPUTS=1" : "FUZZ_INPUTS=COUNT";
  return `fuzz: ${target}: REASON; replay: make fuzz FUZZ_ONLY=${target} FUZZ_SEED=${seed} ${replay}`;
}
