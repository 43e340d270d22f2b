const NAMED_MAX = 8;

/** A service of an environment. */
export interface ServiceScope {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
}

/** A text that two services of an environment share only if they are the same one. */
export function scopeText({ tenant, environment, serviceId }: ServiceScope): string {
  return `${tenant.length} ${environment.length} ${tenant}${environment}${serviceId}`;
}

/** What people who know of an alert are told of further services in it. */
export function alsoOn(services: readonly string[]): string {
  const named = [...new Set(services)];
  const rest = named.length - NAMED_MAX;
  return `also on ${named.slice(0, NAMED_MAX).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
