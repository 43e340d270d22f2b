/** A service of an environment. */
export interface ServiceScope {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
}

/** A text that two services of an environment share only if they are the same one. */
export function placeText({ tenant, environment, serviceId }: ServiceScope): string {
  return `${tenant.length} ${environment.length} ${tenant}${environment}${serviceId}`;
}
