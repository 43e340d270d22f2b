// The sign-in link makes whoever opens it first the owner of the machine's data. A terminal shows it to the person who started the server; what is not a
// terminal is mostly a log that others read and that is kept, so there a file of the owner's holds it.
import { removeSignInLink, storeSignInLink } from "../adapters/credentials/own-secret.ts";

/** The line that tells of the link; where it is not for a terminal the link is in a file that the line names. */
export function signInLine(link: string, dataDir: string, isTerminal: boolean): string {
  removeSignInLink(dataDir); // of a start before
  if (isTerminal) return `sign in, once within 15 minutes:  ${link}`;
  return `sign in, once within 15 minutes: the link is in ${storeSignInLink(dataDir, link)}, which only its owner can read`;
}
