// Bounds of patterns in label matchers, each with its reason. Together they keep all silences and inhibitions of one alert below 10 ms of CPU (bench row `patterns`):
// a pattern is a table of states that costs 3 to 5 ns a character, whatever it says, and 300 of them over a value of 8 KiB are 2.5 million characters.
import { NAME_BYTES_MAX, VALUE_BYTES_MAX } from "./limits.ts";

/** Bytes of a pattern: a list of some thirty names of services. Those stored by earlier versions may be as long as a name. */
export const PATTERN_BYTES_MAX = 256;
/** Matchers with =~ or !~ that are in force in a tenant, over silences and inhibitions. */
export const PATTERN_MATCHERS_PER_TENANT_MAX = 300;
/** The same of those that were stored by an earlier version, which had no such bound: the oldest count, further ones hold nothing. 3 ms for values of 1,000 characters. */
export const PATTERN_MATCHERS_STORED_MAX = 1_000;
/** Parts of a pattern after its repetitions are written out: a{1000} has 1,000. 256 bytes can say 36,000. */
export const PATTERN_PARTS_MAX = 2_000;
/** Cells of a pattern's table (states times classes of characters), 2 bytes each. 256 different characters of a literal pattern take 26,000. */
export const PATTERN_CELLS_MAX = 32_768;
/** Instructions that making a table may visit, some 0.1 us each: 15 ms. A pattern of 256 bytes of names takes 20,000, one of 256 different characters 114,000. */
export const PATTERN_VISITS_MAX = 120_000;
/**
 * Bytes of tables of one tenant: 300 lists of names of 256 bytes take 4 MiB. Besides, of the patterns of its webhooks, and of its runbooks: 100 of either with two
 * of 10 KiB each. Of all that are kept: sixteen such tenants; the ones used longest ago give way.
 */
export const PATTERN_TABLE_BYTES_PER_TENANT_MAX = 8 * 1024 * 1024;
export const SEARCHED_TABLE_BYTES_PER_TENANT_MAX = 2 * 1024 * 1024;
export const PATTERN_TABLE_BYTES_MAX = 16 * (PATTERN_TABLE_BYTES_PER_TENANT_MAX + 2 * SEARCHED_TABLE_BYTES_PER_TENANT_MAX);
/** Patterns that are kept, with those that cannot be made: 3 KiB each at least, of which 2 say where the classes of characters are. */
export const PATTERNS_RETAINED_MAX = 20_000;
/** Results of patterns over values that are remembered, 100 B each, and characters of those values. All are forgotten when either is full. */
export const PATTERN_RESULTS_MAX = 20_000;
export const PATTERN_RESULT_CHARACTERS_MAX = 1024 * 1024;
/** Visits that a start spends on making tables before it serves: a second. Further ones are made at their first use. */
export const PATTERN_START_VISITS_MAX = 10_000_000;

const ties: Array<[boolean, string]> = [
  [PATTERN_BYTES_MAX <= NAME_BYTES_MAX, "a pattern fits the value of a matcher"],
  [PATTERN_CELLS_MAX <= 0xffff, "a place in a table fits 16 bits"],
  [PATTERN_MATCHERS_PER_TENANT_MAX <= PATTERN_MATCHERS_STORED_MAX, "what may be made stays in force after a restart"],
  [PATTERN_CELLS_MAX * 2 * 4 <= PATTERN_TABLE_BYTES_PER_TENANT_MAX, "a tenant has room for the largest tables"],
  [PATTERN_MATCHERS_STORED_MAX <= PATTERN_RESULTS_MAX, "the results of one value are remembered together"],
  [VALUE_BYTES_MAX <= PATTERN_RESULT_CHARACTERS_MAX, "a value is remembered"],
];
for (const [holds, what] of ties) if (!holds) throw new Error(`pattern-limits.ts: it must hold that ${what}`);
