// One correction for many dead letters: what a payload becomes by it. Pure; the payload itself is not touched.

export const PATCH_KINDS = ["number", "set", "rename", "remove"] as const;
export type PatchKind = (typeof PATCH_KINDS)[number];

export interface LetterPatch {
  readonly kind: PatchKind;
  /** Member of the payload. */
  readonly field: string;
  /** New value, as JSON or as plain text; or the new name. */
  readonly text: string;
}

type Payload = Readonly<Record<string, unknown>>;

/** The payload after the patch; undefined where the patch has nothing to do with it. */
export function patched(payload: unknown, { kind, field, text }: LetterPatch): Payload | undefined {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload) || field === "") return undefined;
  const members = Object.entries(payload);
  const known = members.find(([name]) => name === field);
  if (kind === "set") {
    const value = jsonOr(text);
    if (known !== undefined && JSON.stringify(known[1]) === JSON.stringify(value)) return undefined;
    return replaced(known === undefined ? [...members, [field, value]] : members, field, [field, value]);
  }
  if (known === undefined) return undefined;
  if (kind === "remove") return Object.fromEntries(members.filter(([name]) => name !== field));
  if (kind === "rename") return text === "" || text === field ? undefined : replaced(members, field, [text, known[1]]);
  const number = typeof known[1] === "string" && known[1].trim() !== "" ? Number(known[1]) : Number.NaN;
  return Number.isFinite(number) ? replaced(members, field, [field, number]) : undefined;
}

function replaced(members: ReadonlyArray<readonly [string, unknown]>, field: string, member: readonly [string, unknown]): Payload {
  return Object.fromEntries(members.map((one) => (one[0] === field ? member : one)));
}

/** JSON where it is some, else the text itself. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
