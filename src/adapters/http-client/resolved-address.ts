// The guard's look at a URL before it is stored: its host, and where its name leads now.
import { lookup } from "node:dns/promises";
import { sleep } from "../../core/faults/guard.ts";
import { forbiddenAddress, forbiddenUrl } from "./address-guard.ts";

const LOOKUP_MS_MAX = 2_000;

/** Why a URL may not be stored, in a few words; null where it may. A name that cannot be resolved now is taken: each request asks again. */
export async function forbiddenTarget(url: string, allowPrivate: boolean): Promise<string | null> {
  const problem = forbiddenUrl(url, allowPrivate);
  if (problem !== null) return problem;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const late = sleep(LOOKUP_MS_MAX, { unref: true }).then(() => []);
  const found = await Promise.race([lookup(host, { all: true }).catch(() => []), late]);
  const allowed = found.filter(({ address }) => forbiddenAddress(address, allowPrivate) === null);
  return found.length > 0 && allowed.length === 0 ? forbiddenAddress(found[0]?.address ?? "", allowPrivate) : null;
}
