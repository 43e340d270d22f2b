// Takes out of a line what may be a secret though whoever wrote the line saw none: credentials in addresses and headers, which messages of libraries repeat.
// What is known to be a secret is a Secret (core/text/secret.ts) and never comes here.

const PLACEHOLDER = "(secret)";
const MASKS: ReadonlyArray<readonly [what: RegExp, replacement: string]> = [
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"']{1,2048}@/gi, `$1${PLACEHOLDER}@`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${PLACEHOLDER}`],
  [/([?&](?:access_token|api_?key|auth|key|password|secret|signature|token)=)[^&\s"']+/gi, `$1${PLACEHOLDER}`],
];

/** The line without them. */
export function maskSecrets(line: string): string {
  return MASKS.reduce((text, [what, replacement]) => text.replace(what, replacement), line);
}
