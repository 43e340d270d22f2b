// Plans of tenants: how many ingestion requests a second each allows.

/** Plans, the smallest first. */
export const PLANS = ["free", "starter", "pro", "enterprise"] as const;
export type Plan = (typeof PLANS)[number];

/** Requests a second by plan; Infinity = not limited. */
export type PlanRates = Readonly<Record<Plan, number>>;

const DEFAULT_PLAN_RATES: PlanRates = { free: 10, starter: 100, pro: 1_000, enterprise: Number.POSITIVE_INFINITY };

/** A rate above this is no limit in practice: one process answers some 100,000 requests a second. */
const RATE_MAX = 1_000_000;

/** Whether a text names a plan. */
export function isPlan(text: string): text is Plan {
  return (PLANS as readonly string[]).includes(text);
}

/** Rates with PLAN_LIMITS over them: "free=20,starter=200,pro=unlimited", or "" for none. Throws RangeError that says what is wrong. */
export function parsePlanRates(text: string): PlanRates {
  const rates: Record<Plan, number> = { ...DEFAULT_PLAN_RATES };
  const seen = new Set<string>();
  for (const entry of text.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const [plan = "", rate = "", ...rest] = entry.split("=").map((part) => part.trim());
    if (rest.length > 0 || !isPlan(plan)) throw new RangeError(`"${entry}" is not one of ${PLANS.join(", ")}, then = and a rate`);
    if (seen.has(plan)) throw new RangeError(`${plan} is named twice`);
    seen.add(plan);
    rates[plan] = parseRate(plan, rate);
  }
  return rates;
}

function parseRate(plan: Plan, text: string): number {
  if (text === "unlimited") return Number.POSITIVE_INFINITY;
  const rate = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  if (rate >= 1 && rate <= RATE_MAX) return rate;
  throw new RangeError(`the rate of ${plan} must be a whole number from 1 to ${RATE_MAX}, or unlimited, not "${text}"`);
}
