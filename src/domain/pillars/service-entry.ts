// Entries of the service pillar map: which tenant, product and custom dimensions a service belongs to.

/** One entry. An empty text is not mapped; names of custom keys ascend. */
export interface ServiceEntry {
  readonly serviceId: string;
  readonly tenantId: string;
  readonly productId: string;
  readonly customKeys: ReadonlyArray<readonly [name: string, value: string]>;
}

/** Pillars other than tenant and product have this before the name of their key. */
const CUSTOM_PILLAR = "custom:";

/** Where a service counts: pairs of pillar and value. What is not mapped leaves it out of that pillar alone. */
export function placesOf({ tenantId, productId, customKeys }: ServiceEntry): Array<readonly [pillar: string, value: string]> {
  const places: Array<readonly [string, string]> = [
    ["tenant", tenantId],
    ["product", productId],
  ];
  for (const [name, value] of customKeys) places.push([`${CUSTOM_PILLAR}${name}`, value]);
  return places.filter(([, value]) => value !== "");
}

/** Whether two entries say the same. */
export function isSameEntry(a: ServiceEntry, b: ServiceEntry): boolean {
  return (
    a.serviceId === b.serviceId &&
    a.tenantId === b.tenantId &&
    a.productId === b.productId &&
    a.customKeys.length === b.customKeys.length &&
    a.customKeys.every(([name, value], i) => name === b.customKeys[i]?.[0] && value === b.customKeys[i]?.[1])
  );
}
