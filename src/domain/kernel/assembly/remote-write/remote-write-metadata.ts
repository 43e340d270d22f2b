// What the series that the walk over a 2.0 body stands at says about its metric.
import { ENTRY_DESCRIBED, ENTRY_HELP, ENTRY_TYPE, ENTRY_UNIT } from "./remote-write-2-index";
import { entryAt } from "./remote-write-walk";

/** After STATUS_METADATA: the metric's type as the protocol numbers it. */
export function metadataType(): u32 {
  return load<u32>(entryAt, ENTRY_TYPE) & ~ENTRY_DESCRIBED;
}

/** The number of the symbol that is its help; it may be none. */
export function metadataHelp(): u32 {
  return load<u32>(entryAt, ENTRY_HELP);
}

/** The number of the symbol that is its unit; it may be none. */
export function metadataUnit(): u32 {
  return load<u32>(entryAt, ENTRY_UNIT);
}
