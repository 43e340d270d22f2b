// What the coordinator folds of the configuration as one document.
// GET and POST /api/v1/config: the configuration of the caller's tenant as one document, without secrets, and its way back in.
import type { BodyOf } from "../../api/endpoints.ts";
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { isObject, setMember } from "../../core/collections/own-member.ts";
import { JSON_ELEMENT_BYTES_MAX } from "../../core/config/body-limits.ts";
import { CONFIGURATION_ENTRIES_PER_COMMIT } from "../../core/config/declaration-limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import type { NounModule } from "../state/noun-module.ts";
import { inSlices } from "../state/slices.ts";
import type { ConfigurationContext, ConfigurationEntry, ConfigurationSection } from "./configuration-section.ts";
import { CONFIGURATION_SECTIONS } from "./configuration-sections.ts";

/** Version of the document. */
const FORMAT = 1;

/** A file that is wrong throughout says so with its first lines. */
const PROBLEMS_MAX = 100;

/** Changes that the answer names. */
const CHANGES_MAX = 1_000;

/** Values that are counted between two steps. */
const COUNTED_PER_STEP = 1_000;

export const CONFIGURATION = {
  handlers: {
    exportConfiguration,
    importConfiguration,
  },
} as const satisfies NounModule;

/** All sections, each a list. */
async function exportConfiguration(context: ConfigurationContext, request: QueryRequest<"exportConfiguration">): Promise<Outcome<unknown>> {
  const document = await documentOf(context, request);
  return done({ ...document, hash: hashOf(document) });
}

async function documentOf(context: ConfigurationContext, request: ChangeRequest): Promise<Record<string, unknown>> {
  const document: Record<string, unknown> = { format: FORMAT, tenant_id: request.principal.tenant };
  for (const section of CONFIGURATION_SECTIONS) {
    setMember(document, section.name, await section.list(context, request));
    await context.pause();
  }
  return document;
}

function hashOf(document: Record<string, unknown>): string {
  return hash128(canonical(document));
}

interface ImportChange {
  readonly section: string;
  readonly action: "create" | "change" | "delete";
  /** What tells the entry apart from others of its section. */
  readonly key: string;
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
  deleted?: number;
}

/**
 * Writes what differs, each entry as its own endpoint would, many of them in one transaction where their kind allows it. With prune=true what a section of the document
 * lacks is deleted, where all its entries could be used. With dry_run the same is found and nothing written. An entry that cannot be used is reported and the others are
 * taken.
 *
 * Nobody else changes the tenant's configuration from the look at its hash to the last write; what waits for query workers is done before.
 */
async function importConfiguration(context: ConfigurationContext, request: QueryRequest<"importConfiguration">): Promise<Outcome<unknown>> {
  const readings = await readAhead(context, request);
  if (request.query.dry_run === "true") return importDocument(context, request, readings);
  return context.changeAlone(request.principal.tenant, (change) => {
    const alone: ConfigurationContext = { ...context, change, changeBeside: (_tenant, work) => work(change) };
    return importDocument(alone, request, readings);
  });
}

/** What query workers have made of entries. */
type Readings = ReadonlyMap<ConfigurationEntry, Outcome<ConfigurationEntry>>;

async function readAhead(context: ConfigurationContext, request: QueryRequest<"importConfiguration">): Promise<Readings> {
  const readings = new Map<ConfigurationEntry, Outcome<ConfigurationEntry>>();
  for (const section of CONFIGURATION_SECTIONS) {
    if (section.read === undefined) continue;
    for (const raw of entriesOf(request, section) ?? []) {
      const problem = await lengthProblem(context, raw);
      readings.set(raw, problem === undefined ? await section.read(context, request, raw) : refused("unprocessable", problem));
    }
  }
  return readings;
}

function entriesOf(request: QueryRequest<"importConfiguration">, { name }: ConfigurationSection): ConfigurationEntry[] | undefined {
  return request.body[name as keyof BodyOf<"importConfiguration">] as ConfigurationEntry[] | undefined;
}

async function importDocument(
  context: ConfigurationContext,
  request: QueryRequest<"importConfiguration">,
  readings: Readings,
): Promise<Outcome<unknown>> {
  const isDry = request.query.dry_run === "true";
  const prunes = request.query.prune === "true";
  if (request.ifMatch !== null && request.ifMatch.replaceAll('"', "") !== hashOf(await documentOf(context, request)))
    return refused("precondition_failed", "the configuration is another than that of the hash in If-Match: export it again");
  const sections: Record<string, SectionCounts> = {};
  const problems: Problem[] = [];
  const changes: ImportChange[] = [];
  for (const section of CONFIGURATION_SECTIONS) {
    const input = entriesOf(request, section);
    if (input === undefined) continue;
    const report = (index: number, message: string) => problems.push({ section: section.name, index, message });
    const note = (action: ImportChange["action"], key: string) => changes.push({ section: section.name, action, key });
    setMember(sections, section.name, await importSection(context, request, { section, input, readings, isDry, prunes, report, note }));
  }
  return done({
    dry_run: isDry,
    sections,
    changes: changes.slice(0, CHANGES_MAX),
    problems: problems.slice(0, PROBLEMS_MAX),
    problems_total: problems.length,
  });
}

interface SectionImport {
  readonly section: ConfigurationSection;
  readonly input: readonly ConfigurationEntry[];
  readonly readings: Readings;
  readonly isDry: boolean;
  readonly prunes: boolean;
  readonly report: (index: number, message: string) => void;
  readonly note: (action: ImportChange["action"], key: string) => void;
}

async function importSection(
  context: ConfigurationContext,
  request: ChangeRequest,
  { section, input, readings, isDry, prunes, report, note }: SectionImport,
) {
  const counts: SectionCounts = { created: 0, changed: 0, unchanged: 0, refused: 0 };
  const refuse = (index: number, message: string) => {
    counts.refused++;
    report(index, message);
  };
  const { there, lacking } = await entriesThere(context, request, section);
  let gathered = new Map<string, Gathered>();
  for (const [index, raw] of input.entries()) {
    const read = await readEntry(context, { section, raw, there, reading: readings.get(raw) });
    if (typeof read === "string") refuse(index, read);
    else if (gathered.has(read.key)) {
      await write();
      take(index, await readEntry(context, { section, raw, there, reading: readings.get(raw) }));
    } else take(index, read);
    if (section.writeAll === undefined && gathered.size >= gatheredMax(section)) await write();
  }
  await write();
  if (prunes && section.remove !== undefined) counts.deleted = await prune();
  return counts;

  /** What a section lacks of which an entry was refused is not known. */
  async function prune(): Promise<number> {
    if (counts.refused > 0) {
      report(0, "nothing of this section is deleted, as not all of its entries can be used");
      return 0;
    }
    let deleted = 0;
    for (const [key, entry] of lacking) {
      const outcome = isDry ? done(null) : await section.remove?.(context, request, entry);
      if (outcome?.ok === false) report(0, outcome.refusal.message);
      else {
        deleted++;
        note("delete", key);
      }
    }
    return deleted;
  }

  function take(index: number, read: ReadEntry | string): void {
    if (typeof read !== "string") lacking.delete(read.key);
    if (typeof read === "string") refuse(index, read);
    else if (read.isSame) counts.unchanged++;
    else gathered.set(read.key, { ...read, index });
  }

  async function write(): Promise<void> {
    const some = [...gathered.values()];
    gathered = new Map();
    const outcomes = isDry || some.length === 0 ? [] : await writeGathered(section, { context, request, entries: some });
    for (const [position, { index, key, text, isThere }] of some.entries()) {
      const outcome = outcomes[position];
      if (outcome?.ok === false) {
        refuse(index, outcome.refusal.message);
        continue;
      }
      counts[isThere ? "changed" : "created"]++;
      note(isThere ? "change" : "create", key);
      there.set(key, text);
    }
  }
}

/** The entries of a section by their keys: as texts, and those that the document may lack, which what stays is not among. */
async function entriesThere(context: ConfigurationContext, request: ChangeRequest, section: ConfigurationSection) {
  const there = new Map<string, string>();
  const lacking = new Map<string, ConfigurationEntry>();
  for (const entry of await section.list(context, request)) {
    await context.pause();
    const parsed = await inSlices(section.parse(entry), context.pause);
    const key = section.key(parsed.ok ? parsed.value : entry);
    there.set(key, canonical(parsed.ok ? parsed.value : entry));
    if (section.stays?.(entry) !== true) lacking.set(key, entry);
  }
  return { there, lacking };
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

interface SectionEntry {
  readonly section: ConfigurationSection;
  readonly reading: Outcome<ConfigurationEntry> | undefined;
  readonly raw: ConfigurationEntry;
  readonly there: ReadonlyMap<string, string>;
}

async function readEntry(context: ConfigurationContext, { section, raw, there, reading }: SectionEntry): Promise<ReadEntry | string> {
  const problem = await lengthProblem(context, raw);
  if (problem !== undefined) return problem;
  const parsed = reading ?? (await inSlices(section.parse(raw), context.pause));
  if (!parsed.ok) return parsed.refusal.message;
  const key = section.key(parsed.value);
  const text = canonical(parsed.value);
  const before = there.get(key);
  const lack = before === undefined ? section.incomplete?.(parsed.value) : undefined;
  return lack ?? { raw: reading === undefined ? raw : parsed.value, key, text, isThere: before !== undefined, isSame: before === text };
}

async function lengthProblem({ pause }: ConfigurationContext, raw: ConfigurationEntry): Promise<string | undefined> {
  if (!(await inSlices(isLongerThan(raw, JSON_ELEMENT_BYTES_MAX), pause))) return undefined;
  return `has more than ${JSON_ELEMENT_BYTES_MAX} characters: write it by its own endpoint`;
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
    isObject(member)
      ? Object.fromEntries(
          Object.entries(member)
            .filter(([, one]) => one !== null && one !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : member,
  );
}

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
