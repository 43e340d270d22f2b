// Paths of the contract that no part of the server answers yet. They say so with 501 `not_built`: a 404 would make a caller look for a typing error.

/** One path that will be an endpoint, with its methods and what it will do. */
interface PlannedPath {
  /** Parameters stand in braces and take one whole segment. */
  readonly path: string;
  readonly methods: readonly string[];
  /** Completes "it will ...". */
  readonly purpose: string;
}

const ML = "/api/v1/ml";

/** In the order of the contract. */
export const PLANNED: readonly PlannedPath[] = [
  { path: `${ML}/train`, methods: ["POST"], purpose: "train a model of a service" },
  { path: `${ML}/promote`, methods: ["POST"], purpose: "put a shadow model into production" },
  { path: `${ML}/rollback`, methods: ["POST"], purpose: "put the former model back" },
  { path: `${ML}/drift`, methods: ["GET"], purpose: "compare a model with what comes in today" },
  { path: `${ML}/models`, methods: ["GET"], purpose: "list models" },
  { path: `${ML}/jobs`, methods: ["GET"], purpose: "list training jobs" },
  { path: `${ML}/jobs/{id}`, methods: ["GET"], purpose: "show a training job" },
  { path: `${ML}/jobs/{id}/cancel`, methods: ["POST"], purpose: "cancel a training job" },
  { path: "/api/v1/routing/budgets/{team}", methods: ["PUT"], purpose: "set how many pages a team may get" },
  { path: "/api/v1/reports/pages", methods: ["GET"], purpose: "count pages by team and service" },
];

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
