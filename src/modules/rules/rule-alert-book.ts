// Alerts of rules that fire and were sent on, until their ends are: table `rule_alerts`, message RuleAlert of schemas/stored.proto. So an end is sent too of what no rule
// knows any more: of a group that was deleted or changed while the server was down.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { RuleAlertChange } from "../../core/protocol/rule-work.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { canonicalAttributes } from "../../domain/series/stream-identity.ts";
import { stored } from "../state/generated/stored-rows.ts";
import { scan } from "../state/scan.ts";
import { checkRowVersion } from "../state/stored-json.ts";
import { type MessageCodec, readStoredMessage, storedMessage, storedText } from "../state/stored-message.ts";
import { idBytes } from "../state/tables.ts";

const TABLE = "rule_alerts";
const VERSION = 1;
const ALERT: MessageCodec = stored.RuleAlert;

type Texts = Readonly<Record<string, string>>;

/** An alert that fires and was sent on. */
export interface FiringRuleAlert {
  readonly tenant: string;
  /** File and name of its group. */
  readonly group: string;
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly firedMs: number;
}

/** An alert that fires, and whether its rule has been evaluated since the start. */
interface KnownAlert {
  readonly alert: FiringRuleAlert;
  isSeen: boolean;
}

/** What an alert is known by in its group. */
function ruleAlertId(labels: Texts): string {
  return hash128(canonicalAttributes(labels));
}

/** Stores an alert, or deletes it. */
export function ruleAlertOperation({ tenant, group, labels, annotations, firedMs }: FiringRuleAlert, isDeletion = false): StoreOperation {
  const id = hash128(JSON.stringify([group, ruleAlertId(labels)]));
  const key = new KeyBuilder().text(tenant).fixed(idBytes(id)).finish();
  if (isDeletion) return { table: TABLE, key, value: undefined };
  const message = {
    tenant,
    group: storedText(group),
    labels: pairsOf(labels),
    annotations: pairsOf(annotations),
    firedMs,
  };
  return { table: TABLE, key, value: storedMessage(VERSION, ALERT.encode(message).finish()) };
}

/** The committed alerts of all groups. */
export class RuleAlertBook {
  /** By tenant and group, there by id: alerts are asked for by group alone, so that a table of tenants would say less. */
  readonly #groups = new Map<string, Map<string, KnownAlert>>();

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, TABLE)) this.#put(read(value), false);
  }

  /** Keys of groups with alerts, each with one of them. */
  *groups(): Iterable<FiringRuleAlert> {
    for (const alerts of this.#groups.values()) for (const { alert } of [...alerts.values()].slice(0, 1)) yield alert;
  }

  has(tenant: string, group: string, labels: Texts): boolean {
    return this.#groups.get(keyOf({ tenant, group }))?.has(ruleAlertId(labels)) === true;
  }

  put(alert: FiringRuleAlert): void {
    this.#put(alert, true);
  }

  #put(alert: FiringRuleAlert, isSeen: boolean): void {
    const key = keyOf(alert);
    const alerts = this.#groups.get(key) ?? new Map<string, KnownAlert>();
    this.#groups.set(key, alerts.set(ruleAlertId(alert.labels), { alert, isSeen }));
  }

  remove({ tenant, group, labels }: Omit<FiringRuleAlert, "annotations" | "firedMs">): void {
    const key = keyOf({ tenant, group });
    const alerts = this.#groups.get(key);
    alerts?.delete(ruleAlertId(labels));
    if (alerts?.size === 0) this.#groups.delete(key);
  }

  /** Notes that a rule has an alert, pending or firing. */
  see(tenant: string, group: string, labels: Texts): void {
    const known = this.#groups.get(keyOf({ tenant, group }))?.get(ruleAlertId(labels));
    if (known !== undefined) known.isSeen = true;
  }

  /** Alerts of a group that no rule has had since the start. */
  unseen(tenant: string, group: string): FiringRuleAlert[] {
    return [...(this.#groups.get(keyOf({ tenant, group }))?.values() ?? [])].filter(({ isSeen }) => !isSeen).map(({ alert }) => alert);
  }
}

/** The end of an alert that is sent because no rule has it. */
export function endOf({ labels, annotations, firedMs }: FiringRuleAlert, endedMs: number): RuleAlertChange {
  return { status: "resolved", labels, annotations, firedMs, endedMs };
}

function keyOf({ tenant, group }: Pick<FiringRuleAlert, "tenant" | "group">): string {
  return JSON.stringify([tenant, group]);
}

function pairsOf(texts: Texts) {
  return Object.entries(texts).map(([name, value]) => ({ name: storedText(name), value: storedText(value) }));
}

function read(value: Uint8Array): FiringRuleAlert {
  checkRowVersion(TABLE, value, VERSION);
  return readStoredMessage(ALERT, value, "a stored alert of a rule is damaged", ({ labels, annotations, ...rest }) => {
    const texts = (pairs: ReadonlyArray<{ readonly name: string; readonly value: string }>) =>
      Object.fromEntries(pairs.map(({ name, value: text }) => [name, text]));
    const { tenant, group, firedMs } = rest;
    return { tenant, group, labels: texts(labels), annotations: texts(annotations), firedMs };
  });
}
