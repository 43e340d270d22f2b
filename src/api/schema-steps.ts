// Reads a value by a schema entry by entry, and stops at the first one at fault: a list of a thousand wrong entries costs as much as one. First the schema is
// asked with its lists left as they came, but for their lengths; then each entry by itself; then what the schema says of the whole.
// Objects of any names get no prototype, so that a client's name finds only what the client has sent.
import { z } from "zod";
import { ownMember, setMember } from "../core/collections/own-member.ts";
import { issueText } from "./issue-text.ts";
import { firstIssue } from "./query-parsing.ts";

/** The value that a schema makes of another, or what is wrong with it first. */
export type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issue: z.core.$ZodIssue };

/** A schema taken apart. */
interface SchemaPlan {
  /** With lists of anything, and without what it says of objects that hold them. */
  readonly shell: z.ZodType;
  readonly lists: readonly ListPlan[];
  /** Objects of any names and values, which lose their prototypes in steps: they may be as large as the body. */
  readonly bares: ReadonlyArray<readonly string[]>;
  /** What is said of wholes that hold lists, innermost first. */
  readonly wholes: ReadonlyArray<{ readonly path: readonly string[]; readonly schema: z.ZodType }>;
}

interface ListPlan {
  readonly path: readonly string[];
  readonly entry: SchemaPlan;
}

/** A body has 1,024 entries or members in one of its containers at most where its schema says no more. */
const STEPPED_LEVELS = 4;

type Checks = NonNullable<z.ZodArray["def"]["checks"]>;

const PLANS = new WeakMap<z.ZodType, SchemaPlan>();
const LENGTH_CHECKS: ReadonlySet<string> = new Set(["min_length", "max_length", "length_equals"]);

/** Reads a value; yields between entries. */
export function* readSteps(schema: z.ZodType, value: unknown): Generator<void, Read> {
  let plan = PLANS.get(schema);
  if (plan === undefined) {
    plan = planOf(schema);
    PLANS.set(schema, plan);
  }
  return yield* read(plan, value);
}

function* read({ shell, lists, bares, wholes }: SchemaPlan, value: unknown): Generator<void, Read> {
  const parsed = shell.safeParse(value, { error: issueText });
  if (!parsed.success) return { ok: false, issue: firstIssue(parsed.error) };
  for (const { path, entry } of lists) {
    const entries = memberAt(parsed.data, path);
    if (!Array.isArray(entries)) continue;
    for (let index = 0; index < entries.length; index++) {
      const one = yield* read(entry, entries[index]);
      if (!one.ok) return { ok: false, issue: { ...one.issue, path: [...path, index, ...one.issue.path] } };
      entries[index] = one.value;
      yield;
    }
  }
  for (const { path, schema } of wholes) {
    const whole = memberAt(parsed.data, path);
    const said = whole === undefined || whole === null ? undefined : schema.safeParse(whole, { error: issueText }).error;
    if (said === undefined) continue;
    const issue = firstIssue(said);
    return { ok: false, issue: { ...issue, path: [...path, ...issue.path] } };
  }
  return { ok: true, value: yield* bareMembers(parsed.data, bares) };
}

/** The value with those of its members, or itself, without prototypes. */
function* bareMembers(value: unknown, paths: SchemaPlan["bares"]): Generator<void, unknown> {
  for (const path of paths) {
    const name = path.at(-1);
    if (name === undefined) return yield* bareSteps(value);
    const holder = memberAt(value, path.slice(0, -1));
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, name)) continue;
    setMember(holder as Record<string, unknown>, name, yield* bareSteps(memberAt(holder, [name])));
  }
  return value;
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) at = typeof at === "object" ? ownMember(at, name) : undefined;
  return at;
}

function planOf(schema: z.core.$ZodType): SchemaPlan {
  if (schema instanceof z.ZodObject) return objectPlan(schema);
  if (schema instanceof z.ZodArray) return listPlan(schema);
  if (schema instanceof z.ZodRecord && schema.def.valueType instanceof z.ZodUnknown && (schema.def.checks ?? []).length === 0)
    return { ...leaf(schema), bares: [[]] };
  if (schema instanceof z.ZodRecord) return leaf(schema.clone({ ...schema.def, checks: [BARE, ...(schema.def.checks ?? [])] }));
  if (schema instanceof z.ZodPipe) {
    const { shell, lists, bares, wholes } = planOf(schema.def.out);
    if (lists.length > 0 || bares.length > 0) throw new TypeError("a list behind a transform cannot be read entry by entry");
    return { shell: schema.clone({ ...schema.def, out: shell }), lists, bares, wholes };
  }
  const { innerType } = schema._zod.def as { readonly innerType?: z.core.$ZodType };
  if (innerType === undefined) return leaf(schema as z.ZodType);
  const inner = planOf(innerType);
  const shell = (schema as z.ZodType).clone({ ...schema._zod.def, innerType: inner.shell } as never);
  return { ...inner, shell };
}

function objectPlan(schema: z.ZodObject): SchemaPlan {
  const members = Object.entries(schema.def.shape).map(([name, member]) => ({ name, plan: planOf(member) }));
  const lists = members.flatMap(({ name, plan }) => plan.lists.map((list) => ({ ...list, path: [name, ...list.path] })));
  const bares = members.flatMap(({ name, plan }) => plan.bares.map((path) => [name, ...path]));
  const within = members.flatMap(({ name, plan }) => plan.wholes.map((whole) => ({ ...whole, path: [name, ...whole.path] })));
  const shape = Object.fromEntries(members.map(({ name, plan }) => [name, plan.shell]));
  const checks: Checks = schema.def.checks ?? [];
  if (lists.length === 0) return { shell: schema.clone({ ...schema.def, shape }), lists, bares, wholes: within };
  return { shell: schema.clone({ ...schema.def, shape, checks: [] }), lists, bares, wholes: [...within, ...wholeOf(checks)] };
}

function listPlan(schema: z.ZodArray): SchemaPlan {
  const checks: Checks = schema.def.checks ?? [];
  const lengths = checks.filter((check) => LENGTH_CHECKS.has(check._zod.def.check));
  const others = checks.filter((check) => !lengths.includes(check));
  const shell = schema.clone({ ...schema.def, element: z.any(), checks: [...lengths] });
  return { shell, lists: [{ path: [], entry: planOf(schema.def.element) }], bares: [], wholes: wholeOf(others) };
}

function leaf(shell: z.ZodType): SchemaPlan {
  return { shell, lists: [], bares: [], wholes: [] };
}

function wholeOf(checks: Checks): SchemaPlan["wholes"] {
  return checks.length === 0 ? [] : [{ path: [], schema: z.any().check(...(checks as Array<z.core.$ZodCheck<unknown>>)) }];
}

/** The same members without a prototype, those of objects within too. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  const object: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(value)) setMember(object, name, bare(member));
  return object;
}

const BARE = z.overwrite(bare);

/** The same in steps: between the members of each of the outer levels. */
function* bareSteps(value: unknown, levels = STEPPED_LEVELS): Generator<void, unknown> {
  if (levels === 0 || typeof value !== "object" || value === null) return bare(value);
  const object: Record<string, unknown> = Object.create(null);
  const list: unknown[] = [];
  for (const [name, member] of Object.entries(value)) {
    const made = yield* bareSteps(member, levels - 1);
    if (Array.isArray(value)) list.push(made);
    else setMember(object, name, made);
    yield;
  }
  return Array.isArray(value) ? list : object;
}
