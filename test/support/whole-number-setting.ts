/** A whole number from the environment, `initial` where it is not set or empty. Throws RangeError for any other text and outside `least` to `most`. */
export function wholeNumberSetting(
  name: string,
  initial: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const given = process.env[name];
  if (given === undefined || given === "") return initial;
  const isWithin = /^(0|[1-9]\d{0,9})$/.test(given) && Number(given) >= least && Number(given) <= most;
  if (!isWithin) throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not "${given}"`);
  return Number(given);
}
