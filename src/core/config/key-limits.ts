// The longest key of a store, and that each key which holds a name of a client's fits it. A text takes its bytes as UTF-8 and two for its end: names have no
// control characters (domain/series/name-rule.ts), so that no byte of them is doubled.
import {
  CUSTOM_KEY_BYTES_MAX,
  LABEL_KEY_CHARACTERS_MAX,
  PILLAR_VALUE_BYTES_MAX,
  SATURATION_NAMES_BYTES_MAX,
} from "./declaration-limits.ts";
import { NAME_BYTES_MAX, WATCHDOG_NAMES_BYTES_MAX } from "./limits.ts";

/** Longest key in bytes: what LMDB takes with 4 KiB pages. */
export const KEY_BYTES_MAX = 1978;
/** Characters of a tenant's name, as a token may give it. */
export const TENANT_CHARACTERS_MAX = 64;
/** Characters of the subject of a token, and of a user's id. */
export const SUBJECT_CHARACTERS_MAX = 255;

const CHARACTER_BYTES_MAX = 3;
const TEXT_END_BYTES = 2;
const NUMBER_BYTES_MAX = 8;
const IDENTITY_BYTES = 16;

const text = (bytesMax: number) => bytesMax + TEXT_END_BYTES;
const TENANT = text(TENANT_CHARACTERS_MAX * CHARACTER_BYTES_MAX);
const NAME = text(NAME_BYTES_MAX);

/** Bytes of the longest key of each kind; kinds of one form stand once. */
const KEYS: Readonly<Record<string, number>> = {
  "a metric's metadata, a team's budget, feedback on a service": TENANT + NAME,
  "the type of a metric by one sender": TENANT + NAME + NUMBER_BYTES_MAX,
  "streams of a service that left memory": TENANT + NAME + NUMBER_BYTES_MAX,
  "a service's label": TENANT + NAME + text(LABEL_KEY_CHARACTERS_MAX) + NUMBER_BYTES_MAX,
  "settings of a metric": TENANT + text(0) * 2 + WATCHDOG_NAMES_BYTES_MAX + NUMBER_BYTES_MAX,
  "the limit of a metric": TENANT + text(0) * 2 + SATURATION_NAMES_BYTES_MAX + NUMBER_BYTES_MAX,
  "a service of the map": TENANT + NAME,
  "the history of a pillar's value": TENANT + text(CUSTOM_KEY_BYTES_MAX) + text(PILLAR_VALUE_BYTES_MAX),
  "a user": TENANT + text(SUBJECT_CHARACTERS_MAX * CHARACTER_BYTES_MAX),
  "a row of a time": TENANT + NUMBER_BYTES_MAX + 2 * IDENTITY_BYTES,
};
for (const [what, bytes] of Object.entries(KEYS)) {
  if (bytes > KEY_BYTES_MAX)
    throw new Error(`key-limits.ts: the key of ${what} may have ${bytes} bytes, and ${KEY_BYTES_MAX} are possible`);
}
