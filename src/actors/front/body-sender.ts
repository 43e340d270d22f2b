// Who sends a body, as a number that is the same after a restart: metadata of remote-write 1.0 name no series, so all that ties them to series is who sent both.
import { hash128 } from "../../core/hashing/hash128.ts";

const NUMBER_DIGITS = 8;

/** The credential's number, and that of the address where there is no credential; never 0. */
export function senderNumber(subject: string, isAnonymous: boolean, remoteAddress: () => string): number {
  const name = isAnonymous ? `address ${remoteAddress()}` : `subject ${subject}`;
  return Number.parseInt(hash128(name).slice(0, NUMBER_DIGITS), 16) || 1;
}
