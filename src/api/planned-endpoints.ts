// Paths of the contract that no part of the server answers yet. They say so with 501 `not_built`: a 404 would make a caller look for a typing error.

/** One path that will be an endpoint, with its methods and what it will do. */
interface PlannedPath {
  /** Parameters stand in braces and take one whole segment. */
  readonly path: string;
  readonly methods: readonly string[];
  /** Completes "it will ...". */
  readonly purpose: string;
}

/** In the order of the contract. */
export const PLANNED: readonly PlannedPath[] = [];

/** What the path will do once it is built; undefined where nothing is planned under this path and method. */
export function plannedPurpose(method: string, path: string): string | undefined {
  return PLANNED.find((planned) => planned.methods.includes(method) && matches(planned.path, path))?.purpose;
}

function matches(pattern: string, path: string): boolean {
  const given = path.split("/");
  const expected = pattern.split("/");
  if (given.length !== expected.length) return false;
  return expected.every((segment, place) => (segment.startsWith("{") ? given[place] !== "" : segment === given[place]));
}
