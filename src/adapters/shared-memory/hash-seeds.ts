/** Seeds of an engine's hashes, 64 bits each: two of the lane table from 16 random bytes, new at every start, and two of identities, the data folder's (hex digits). */
export function hashSeeds(identitySeed: string, lane: Buffer): readonly [bigint, bigint, bigint, bigint] {
  return [
    lane.readBigUInt64LE(0),
    lane.readBigUInt64LE(8),
    BigInt(`0x${identitySeed.slice(0, 16)}`),
    BigInt(`0x${identitySeed.slice(16, 32)}`),
  ];
}
