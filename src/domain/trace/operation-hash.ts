// A number for an operation's name: spans on their way to the shard of their trace carry it in place of the name, which the shard of their service knows.
const FNV_OFFSET = 0x811c9dc5;
export const FNV_PRIME = 0x01000193;

/** FNV-1a over UTF-16 units, 32 bits, signed. Two of a service's 200 operations share one in a case of 200,000 and then count as one. */
export function operationHash(name: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), FNV_PRIME);
  return hash | 0;
}
