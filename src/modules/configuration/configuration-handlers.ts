// GET and POST /api/v1/config: the configuration of the caller's tenant as one document, without secrets, and its way back in.

import type { BodyOf } from "../../api/endpoints.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import { setMember } from "../../core/collections/own-member.ts";
import { JSON_ELEMENT_BYTES_MAX } from "../../core/config/body-limits.ts";
import { CONFIGURATION_ENTRIES_PER_COMMIT } from "../../core/config/declaration-limits.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import { inSlices } from "../state/slices.ts";
import type { ConfigurationContext, ConfigurationEntry, ConfigurationSection } from "./configuration-section.ts";
import { CONFIGURATION_SECTIONS } from "./configuration-sections.ts";

/** Version of the document. */
const FORMAT = 1;
/** A file that is wrong throughout says so with its first lines. */
const PROBLEMS_MAX = 100;

/** All sections, each a list. */
export async function exportConfiguration(
  context: ConfigurationContext,
  request: QueryRequest<"exportConfiguration">,
): Promise<Outcome<unknown>> {
  const { tenant } = request.principal;
  const document: Record<string, unknown> = { format: FORMAT, tenant_id: tenant };
  for (const section of CONFIGURATION_SECTIONS) {
    setMember(document, section.name, await section.list(context, request));
    await context.pause();
  }
  return done(document);
}

interface Problem {
  readonly section: string;
  readonly index: number;
  readonly message: string;
}

/** Counts of what an import does with the entries of one section. */
interface SectionCounts {
  created: number;
  changed: number;
  unchanged: number;
  refused: number;
}

/**
 * Writes what differs, each entry as its own endpoint would, many of them in one transaction where their kind allows it; nothing is deleted. With dry_run the same is found and nothing written. An entry that cannot be used is reported and the others are taken.
 */
export async function importConfiguration(
  context: ConfigurationContext,
  request: QueryRequest<"importConfiguration">,
): Promise<Outcome<unknown>> {
  const isDry = request.query.dry_run === "true";
  const sections: Record<string, SectionCounts> = {};
  const problems: Problem[] = [];
  for (const section of CONFIGURATION_SECTIONS) {
    const given = request.body[section.name as keyof BodyOf<"importConfiguration">] as ConfigurationEntry[] | undefined;
    if (given === undefined) continue;
    const tell = (index: number, message: string) => problems.push({ section: section.name, index, message });
    setMember(sections, section.name, await importSection(context, request, { section, given, isDry, tell }));
  }
  return done({ dry_run: isDry, sections, problems: problems.slice(0, PROBLEMS_MAX), problems_total: problems.length });
}

interface SectionImport {
  readonly section: ConfigurationSection;
  readonly given: readonly ConfigurationEntry[];
  readonly isDry: boolean;
  readonly tell: (index: number, message: string) => void;
}

async function importSection(context: ConfigurationContext, request: ChangeRequest, { section, given, isDry, tell }: SectionImport) {
  const counts: SectionCounts = { created: 0, changed: 0, unchanged: 0, refused: 0 };
  const refuse = (index: number, message: string) => {
    counts.refused++;
    tell(index, message);
  };
  const there = new Map<string, string>();
  for (const entry of await section.list(context, request)) {
    await context.pause();
    const parsed = await inSlices(section.parse(entry), context.pause);
    there.set(section.key(parsed.ok ? parsed.value : entry), canonical(parsed.ok ? parsed.value : entry));
  }
  let gathered = new Map<string, Gathered>();
  for (const [index, raw] of given.entries()) {
    const read = await inSlices(readSteps(section, raw, there), context.pause);
    if (typeof read === "string") refuse(index, read);
    else if (gathered.has(read.key)) {
      await write();
      take(index, await inSlices(readSteps(section, raw, there), context.pause));
    } else take(index, read);
    if (section.writeAll === undefined && gathered.size >= gatheredMax(section)) await write();
  }
  await write();
  return counts;

  function take(index: number, read: ReadEntry | string): void {
    if (typeof read === "string") refuse(index, read);
    else if (read.isSame) counts.unchanged++;
    else gathered.set(read.key, { ...read, index });
  }

  async function write(): Promise<void> {
    const some = [...gathered.values()];
    gathered = new Map();
    const outcomes = isDry || some.length === 0 ? [] : await writeGathered(section, { context, request, entries: some });
    for (const [place, { index, key, text, isThere }] of some.entries()) {
      const outcome = outcomes[place];
      if (outcome?.ok === false) {
        refuse(index, outcome.refusal.message);
        continue;
      }
      counts[isThere ? "changed" : "created"]++;
      there.set(key, text);
    }
  }
}

/** An entry that may be written, beside what is there. */
interface ReadEntry {
  readonly raw: ConfigurationEntry;
  readonly key: string;
  readonly text: string;
  readonly isThere: boolean;
  readonly isSame: boolean;
}

interface Gathered extends ReadEntry {
  readonly index: number;
}

function* readSteps(
  section: ConfigurationSection,
  raw: ConfigurationEntry,
  there: ReadonlyMap<string, string>,
): Generator<void, ReadEntry | string> {
  if (yield* isLongerThan(raw, JSON_ELEMENT_BYTES_MAX))
    return `has more than ${JSON_ELEMENT_BYTES_MAX} characters: write it by its own endpoint`;
  yield;
  const parsed = yield* section.parse(raw);
  if (!parsed.ok) return parsed.refusal.message;
  const key = section.key(parsed.value);
  const text = canonical(parsed.value);
  const before = there.get(key);
  const lack = before === undefined ? section.incomplete?.(parsed.value) : undefined;
  return lack ?? { raw, key, text, isThere: before !== undefined, isSame: before === text };
}

function gatheredMax({ writeSome }: ConfigurationSection): number {
  return writeSome === undefined ? 1 : CONFIGURATION_ENTRIES_PER_COMMIT;
}

interface GatheredEntries {
  readonly context: ConfigurationContext;
  readonly request: ChangeRequest;
  readonly entries: readonly Gathered[];
}

async function writeGathered(
  section: ConfigurationSection,
  { context, request, entries }: GatheredEntries,
): Promise<Array<Outcome<unknown>>> {
  const raws = entries.map(({ raw }) => raw);
  if (section.writeSome !== undefined) return section.writeSome(context, request, raws);
  if (section.writeAll !== undefined) {
    const all = await section.writeAll(context, request, raws);
    return raws.map(() => all);
  }
  const outcomes: Array<Outcome<unknown>> = [];
  for (const { raw, isThere } of entries) outcomes.push((await section.write?.(context, request, raw, isThere)) ?? done(null));
  return outcomes;
}

/** The same text for the same content, whatever the order of members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(
          Object.entries(member)
            .filter(([, one]) => one !== null && one !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : member,
  );
}

/** Values that are counted between two steps. */
const COUNTED_PER_STEP = 1_000;

/** Whether the texts within a value have more characters together, and its values as many; yields between steps. */
function* isLongerThan(value: unknown, charactersMax: number): Generator<void, boolean> {
  let left = charactersMax;
  let counted = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const one = open.pop();
    left -= typeof one === "string" ? one.length : 1;
    if (typeof one === "object" && one !== null && left >= 0) {
      if (!Array.isArray(one)) for (const name of Object.keys(one)) left -= name.length;
      for (const member of Object.values(one)) open.push(member);
    }
    if (left < 0) return true;
    if (++counted % COUNTED_PER_STEP === 0) yield;
  }
  return false;
}
