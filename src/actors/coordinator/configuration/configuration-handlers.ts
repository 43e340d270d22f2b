// GET and POST /api/v1/config: the configuration of the caller's tenant as one document, without secrets, and its way back in.

import type { BodyOf } from "../../../api/endpoints.ts";
import { done, type Outcome } from "../../../api/refusal.ts";
import { setMember } from "../../../core/base/own-member.ts";
import { JSON_ELEMENT_BYTES_MAX } from "../../../core/config/body-limits.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import { mapInSlices } from "../state/slices.ts";
import type { ConfigurationContext } from "./configuration-context.ts";
import type { ConfigurationEntry, ConfigurationSection } from "./configuration-section.ts";
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
  for (const section of CONFIGURATION_SECTIONS) setMember(document, section.name, await section.list(context, request));
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
 * Writes what differs, entry by entry, each as its own endpoint would; nothing is deleted. With dry_run the same is found and nothing written. An entry that cannot be used is reported and the others are taken.
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
  const there = new Map<string, string>();
  const together: ConfigurationEntry[] = [];
  const remember = (entry: ConfigurationEntry) => {
    const parsed = section.parse(entry);
    there.set(section.key(parsed.ok ? parsed.value : entry), canonical(parsed.ok ? parsed.value : entry));
  };
  await mapInSlices(await section.list(context, request), remember, context.pause);
  for (const [index, raw] of given.entries()) {
    await context.pause();
    const problem = await importEntry(raw);
    if (problem === undefined) continue;
    counts.refused++;
    tell(index, problem);
  }
  const written = together.length === 0 ? undefined : await section.writeAll?.(context, request, together);
  if (written?.ok === false) {
    tell(0, written.refusal.message);
    return { created: 0, changed: 0, unchanged: counts.unchanged, refused: given.length - counts.unchanged };
  }
  return counts;

  async function importEntry(raw: ConfigurationEntry): Promise<string | undefined> {
    if (isLongerThan(raw, JSON_ELEMENT_BYTES_MAX))
      return `has more than ${JSON_ELEMENT_BYTES_MAX} characters: write it by its own endpoint`;
    const parsed = section.parse(raw);
    if (!parsed.ok) return parsed.refusal.message;
    const entry = parsed.value;
    const before = there.get(section.key(entry));
    if (before === canonical(entry)) {
      counts.unchanged++;
      return undefined;
    }
    const lack = before === undefined ? section.incomplete?.(entry) : undefined;
    if (lack !== undefined) return lack;
    if (section.writeAll !== undefined && !isDry) together.push(raw);
    else if (!isDry) {
      const written = await section.write(context, request, raw, before !== undefined);
      if (!written.ok) return written.refusal.message;
    }
    counts[before === undefined ? "created" : "changed"]++;
    there.set(section.key(entry), canonical(entry));
    return undefined;
  }
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

/** Whether the texts within a value have more characters together, and its values as many. */
function isLongerThan(value: unknown, charactersMax: number): boolean {
  let left = charactersMax;
  const count = (one: unknown): boolean => {
    left -= typeof one === "string" ? one.length : 1;
    if (left < 0) return false;
    if (typeof one !== "object" || one === null) return true;
    return Object.entries(one).every(([name, member]) => count(name) && count(member));
  };
  return !count(value);
}
