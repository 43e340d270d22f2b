// The text of an API key: vdt_<key id>_<secret>. The id says which key it is and may be shown; the secret is 256 random bits.
//
// Of a key only SHA-256 of its whole text is stored. Slow hashes (bcrypt, argon2) protect passwords, which can be guessed; 256 random bits cannot, so a fast
// hash loses nothing, and it can be computed on every request.

/** Beginning of every key, so that scanners of repositories and logs find lost ones. */
const MARK = "vdt";
const ID_LENGTH = 8;
/** Random bytes of an id: 40 bits; ids need not be secret, only different. */
export const KEY_ID_BYTES = 5;
/** Random bytes of a secret. */
export const KEY_SECRET_BYTES = 32;
/** Crockford's digits in lower case: no letter is taken for a digit, and no id reads as a word. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const KEY = /^vdt_([0-9a-hjkmnp-tv-z]{8})_[A-Za-z0-9_-]{43}$/;

/** The id that KEY_ID_BYTES random bytes stand for: eight digits of five bits. */
export function keyIdOf(bytes: Uint8Array): string {
  if (bytes.length !== KEY_ID_BYTES) throw new RangeError(`a key id is made of ${KEY_ID_BYTES} bytes, got ${bytes.length}`);
  let id = "";
  for (let bit = 0; bit < ID_LENGTH * 5; bit += 5) {
    const pair = ((bytes[bit >> 3] as number) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    id += DIGITS.charAt((pair >> (11 - (bit & 7))) & 31);
  }
  return id;
}

/** The whole key; `secret` is KEY_SECRET_BYTES in base64url. */
export function apiKeyText(keyId: string, secret: string): string {
  const text = `${keyPrefix(keyId)}${secret}`;
  if (!KEY.test(text)) throw new RangeError("a key needs an id of 8 digits and a secret of 43 characters of base64url");
  return text;
}

/** Prefix of a key, as lists show it. */
export function keyPrefix(keyId: string): string {
  return `${MARK}_${keyId}_`;
}

/** The id in what may be a key; undefined where it has not the form of one. */
export function keyIdIn(text: string): string | undefined {
  return KEY.exec(text)?.[1];
}

/** Whether a text looks like one of our keys, well-formed or not. */
export function resemblesApiKey(text: string): boolean {
  return text.startsWith(`${MARK}_`);
}
