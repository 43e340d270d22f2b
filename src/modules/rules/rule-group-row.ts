// Groups of rules that came by the API, as they are stored: table `rule_groups`, message RuleGroup of schemas/stored.proto.
import { hash128 } from "../../core/hashing/hash128.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import type { RuleGroupDocument } from "../../domain/rules/file/group-document.ts";
import { stored } from "../state/generated/stored-rows.ts";
import { checkRowVersion } from "../state/stored-json.ts";
import { type MessageCodec, readStoredMessage, storedMessage, storedText } from "../state/stored-message.ts";
import type { StoredKind } from "../state/stored-table.ts";
import { idBytes } from "../state/tables.ts";

const TABLE = "rule_groups";
const VERSION = 1;
const GROUP: MessageCodec = stored.RuleGroup;

/** A group of a tenant, with where it comes from. */
export interface RuleGroupEntry {
  readonly tenant: string;
  /** Its file below RULES_DIR; empty where it came by the API. */
  readonly file: string;
  readonly document: RuleGroupDocument;
  /** The document as JSON: what a worker is sent. */
  readonly text: string;
  /** Who has written it by the API. */
  readonly changedBy: string | null;
  readonly changedMs: number;
}

/** What a group is known by within its tenant, as in Prometheus: files may have groups of one name. */
export function groupIdOf(file: string, name: string): string {
  return `${file};${name}`;
}

/** Groups in the order of files and names; each takes the places of its rules. */
export const RULE_GROUPS: StoredKind<RuleGroupEntry> = {
  table: TABLE,
  form: { encode: encodeGroup, decode: readGroup },
  key: ({ tenant, document }) =>
    new KeyBuilder()
      .text(tenant)
      .fixed(idBytes(hash128(document.name)))
      .finish(),
  idOf: ({ file, document }) => groupIdOf(file, document.name),
  amountOf: ({ document }) => document.rules.length,
};

function encodeGroup({ tenant, document, text, changedBy, changedMs }: RuleGroupEntry): Uint8Array {
  const message = {
    tenant,
    name: storedText(document.name),
    document: storedText(text),
    changedBy: storedText(changedBy ?? ""),
    changedMs,
  };
  return storedMessage(VERSION, GROUP.encode(message).finish());
}

/** Gives back the group that was stored. Throws on another version, and where it is damaged. */
function readGroup(value: Uint8Array): RuleGroupEntry {
  checkRowVersion(TABLE, value, VERSION);
  return readStoredMessage(GROUP, value, "a stored group of rules is damaged", ({ tenant, document: text, changedBy, changedMs }) => {
    return { tenant, file: "", document: JSON.parse(text) as RuleGroupDocument, text, changedBy, changedMs };
  });
}
