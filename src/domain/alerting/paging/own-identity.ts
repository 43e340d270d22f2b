import type { DetectorFamily } from "../ensemble.ts";

/** Families by which people and other systems speak: their alerts keep an identity of their own, and are part of no incident of ours. */
export const OWN_IDENTITY: ReadonlySet<string> = new Set<DetectorFamily>(["manual", "external"]);
