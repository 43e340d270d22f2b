// The bulk box of the pillar map (contract 1.2.7): lines of service, tenant and product become entries, and a preview of what they would change.

/** An entry as the API takes it; without `custom_keys` those that are stored stay. */
export interface MapEntry {
  readonly service_id: string;
  readonly tenant_id: string;
  readonly product_id: string;
}

/** A line that says nothing that can be taken. */
export interface LineFault {
  readonly line: number;
  readonly message: string;
}

export interface ParsedLines {
  /** By service; of several lines of one service the last. */
  readonly entries: readonly MapEntry[];
  readonly faults: readonly LineFault[];
  /** Services that stand on more than one line. */
  readonly doubled: readonly string[];
  readonly hasHeader: boolean;
}

/** Outcome for an entry. */
export type EntryChange = "new" | "changed" | "same" | "unmapped";

export interface EntryPreview {
  readonly entry: MapEntry;
  readonly change: EntryChange;
  readonly before: MapEntry | undefined;
  /** No telemetry names this service so far. */
  readonly isNeverSeen: boolean;
}

const LINES_MAX = 100_000;
const NAME_LENGTH_MAX = 1024;
/** Entries that one request takes. */
const PART_ENTRIES = 10_000;
const HEADER = /^service(_?id)?$/i;

/** Reads the box. Fields are apart by commas, semicolons or tabs; quotes as in CSV; empty lines and # comments say nothing. */
export function parseLines(text: string): ParsedLines {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  const byService = new Map<string, MapEntry>();
  const doubled = new Set<string>();
  const faults: LineFault[] = [];
  let hasHeader = false;
  let isFirst = true;
  for (const [index, raw] of lines.entries()) {
    const line = index + 1;
    if (raw.trim() === "" || raw.trimStart().startsWith("#")) continue;
    if (line > LINES_MAX) {
      faults.push({ line, message: `more than ${LINES_MAX.toLocaleString("en")} lines; send the rest in another go` });
      break;
    }
    const fields = splitFields(raw);
    if (isFirst && fields !== undefined && HEADER.test(fields[0] ?? "")) {
      hasHeader = true;
      isFirst = false;
      continue;
    }
    isFirst = false;
    const read = fields === undefined ? "a quote is not closed" : readEntry(fields);
    if (typeof read === "string") {
      faults.push({ line, message: read });
      continue;
    }
    if (byService.delete(read.service_id)) doubled.add(read.service_id);
    byService.set(read.service_id, read);
  }
  return { entries: [...byService.values()], faults, doubled: [...doubled], hasHeader };
}

/** Fields of a line, trimmed; undefined where a quote is not closed. */
function splitFields(raw: string): string[] | undefined {
  const separator = raw.includes("\t") ? "\t" : raw.includes(",") ? "," : raw.includes(";") ? ";" : ",";
  const fields: string[] = [];
  let field = "";
  let isQuoted = false;
  for (let at = 0; at < raw.length; at++) {
    const character = raw[at] as string;
    if (isQuoted) {
      if (character !== '"') field += character;
      else if (raw[at + 1] === '"') {
        field += '"';
        at++;
      } else isQuoted = false;
    } else if (character === '"' && field.trim() === "") {
      isQuoted = true;
      field = "";
    } else if (character === separator) {
      fields.push(field.trim());
      field = "";
    } else field += character;
  }
  fields.push(field.trim());
  return isQuoted ? undefined : fields;
}

function readEntry(fields: readonly string[]): MapEntry | string {
  const [service_id = "", tenant_id = "", product_id = "", ...rest] = fields;
  if (service_id === "") return "the service is missing: write service_id, tenant_id, product_id";
  if (rest.some((field) => field !== "")) return `${fields.length} fields; a line has service_id, tenant_id, product_id`;
  const long = fields.find((field) => field.length > NAME_LENGTH_MAX);
  if (long !== undefined) return `a name may have ${NAME_LENGTH_MAX} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (fields.some((field) => /[\u0000-\u001f\u007f]/.test(field))) return "a name holds a control character";
  return { service_id, tenant_id, product_id };
}

/** Change of what is stored by each entry; `seen` are services that have sent telemetry, undefined where that is not known. */
export function previewEntries(
  entries: readonly MapEntry[],
  stored: ReadonlyMap<string, MapEntry>,
  seen: ReadonlySet<string> | undefined,
): EntryPreview[] {
  return entries.map((entry) => {
    const before = stored.get(entry.service_id);
    return { entry, before, change: changeOf(entry, before), isNeverSeen: seen !== undefined && !seen.has(entry.service_id) };
  });
}

function changeOf(entry: MapEntry, before: MapEntry | undefined): EntryChange {
  if (before !== undefined && before.tenant_id === entry.tenant_id && before.product_id === entry.product_id) return "same";
  if (entry.tenant_id === "" && entry.product_id === "") return "unmapped";
  return before === undefined ? "new" : "changed";
}

/** Parts that one request each may carry. */
export function parts<T>(list: readonly T[], size = PART_ENTRIES): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
}
