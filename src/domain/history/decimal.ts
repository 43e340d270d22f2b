// Numbers as texts of history write them. JavaScript's own Number() reads more than that: " " is 0 there, and "0x10" is 16.
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
/** Words for what is no finite number, of Prometheus and of most languages. */
const NOT_FINITE = /^(?:nan|([+-]?)inf(?:inity)?)$/i;

/** The number that a text writes in decimal digits or as the word for NaN or an infinity; undefined for any other text. */
export function numberOfText(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text);
  const word = NOT_FINITE.exec(text);
  if (word === null) return undefined;
  if (word[1] === undefined) return Number.NaN;
  return word[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
