/**
 * The table `training_rows`: the vectors of each service that its last training has chosen, for the next one, since raw samples go after RETENTION_RAW_DAYS. Of
 * each service a head in memory and in the store, and the bytes in parts that are read for a training alone.
 *
 * Key: tenant, hash of service and environment, u16 number. Number 0 is the head; the parts have numbers from 1 or from 1 + PARTS_MAX on, as the head says: new
 * ones are written beside those in use, a few a commit, and the commit of the head takes them over and deletes the others. What a crash leaves half written is
 * used by nobody, and written over by the next training.
 */
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { TRAINING_ROWS_PART_BYTES, TRAINING_ROWS_PARTS_MAX } from "../../../core/config/model-limits.ts";
import type { ShareLedger } from "../../../core/fairness/share-ledger.ts";
import { SharedTable } from "../../../core/fairness/shared-table.ts";
import { KeyBuilder, KeyReader, prefixEnd } from "../../../domain/codec/key.ts";
import { number, StoredForm, text } from "../../state/stored-json.ts";
import { ID_BYTES, idBytes, idText, TABLE_END, TABLE_START } from "../../state/tables.ts";

/** Whose vectors: `service` is the hash of service and environment, 32 hex digits. */
export interface RowsOwner {
  readonly tenant: string;
  readonly service: string;
}

/** What is kept of one service. */
export interface RetainedRows extends RowsOwner {
  /** Hash of the names of the vector's metrics. */
  readonly columns: string;
  readonly storedMs: number;
  /** Vectors, and the bytes of all parts. */
  readonly rows: number;
  readonly bytes: number;
  /** Which of the two places its parts are in, 0 or 1, and how many there are. */
  readonly side: number;
  readonly parts: number;
}

const HEAD = new StoredForm<Omit<RetainedRows, keyof RowsOwner>>("training_rows", {
  columns: text,
  storedMs: number,
  rows: number,
  bytes: number,
  side: number,
  parts: number,
});

/** What is kept where there is no head. */
const NOTHING = { columns: "", storedMs: 0, rows: 0, bytes: 0, side: 0, parts: 0 };

/** Changes that keep new rows: `parts` one commit after the other, then `head`, then `apply`. */
export interface RowsDraft {
  readonly parts: readonly StoreOperation[];
  readonly head: readonly StoreOperation[];
  apply(): void;
}

/** Vectors of all services, by these; who holds how many bytes. */
export class TrainingRowsBook extends SharedTable<RetainedRows> {
  constructor(shares?: ShareLedger) {
    super(
      ({ service }) => service,
      shares,
      ({ bytes }) => bytes,
    );
  }

  /** Reads the heads, one look-up each; to be called once. */
  load(store: KeyValueStore): void {
    for (let from: Uint8Array | undefined = TABLE_START; from !== undefined; ) {
      const [entry] = store.range("training_rows", { from, to: TABLE_END, limit: 1 });
      if (entry === undefined) return;
      store.noteRow?.("training_rows", entry);
      const reader = new KeyReader(entry.key);
      const owner: RowsOwner = { tenant: reader.text(), service: idText(reader.fixed(ID_BYTES)) };
      // Parts without a head are those of a first training that a crash ended: retention deletes them.
      this.put({ ...owner, ...(reader.u16() === 0 ? HEAD.decode(entry.value) : NOTHING) });
      from = prefixEnd(prefixOf(owner));
    }
  }

  /** The bytes of a service's vectors, part by part; undefined where one is not there. */
  *read(store: KeyValueStore, retained: RetainedRows): Generator<void, Uint8Array | undefined> {
    const bytes = new Uint8Array(retained.bytes);
    let read = 0;
    for (let part = 0; part < retained.parts; part++) {
      const value = store.get("training_rows", partKey(retained, retained.side, part));
      if (value === undefined || read + value.length > bytes.length) return undefined;
      bytes.set(value, read);
      read += value.length;
      yield;
    }
    return read === bytes.length && read > 0 ? bytes : undefined;
  }

  /** Changes that keep these vectors in place of those before; undefined where the tenant has no room for them: what was kept stays. */
  draft(
    owner: RowsOwner,
    { bytes, ...facts }: Pick<RetainedRows, "columns" | "storedMs" | "rows"> & { readonly bytes: Uint8Array },
  ): RowsDraft | undefined {
    const before = this.find(owner.tenant, owner.service);
    const grown = bytes.length - (before?.bytes ?? 0);
    const parts = Math.ceil(bytes.length / TRAINING_ROWS_PART_BYTES);
    if (parts > TRAINING_ROWS_PARTS_MAX || grown > Math.max(0, this.shares.available(owner.tenant))) {
      this.shares.refuse(owner.tenant, Math.max(1, grown));
      return undefined;
    }
    const side = before?.side === 0 ? 1 : 0;
    const { tenant, service } = owner;
    const retained: RetainedRows = { tenant, service, ...facts, bytes: bytes.length, side, parts };
    const partOf = (part: number) => bytes.subarray(part * TRAINING_ROWS_PART_BYTES, (part + 1) * TRAINING_ROWS_PART_BYTES);
    return {
      parts: Array.from({ length: parts }, (_, part) => operation(partKey(owner, side, part), partOf(part))),
      head: [operation(headKey(owner), encodeHead(retained)), ...(before === undefined ? [] : partsRemoval(before))],
      apply: () => this.put(retained),
    };
  }

  /** One that was stored before a time; undefined where there is none. */
  expired(beforeMs: number): RetainedRows | undefined {
    for (const retained of this.all()) if (retained.storedMs < beforeMs) return retained;
    return undefined;
  }
}

/** Deletes what is kept of a service, with what a crash has left of a training. */
export function rowsRemoval(retained: RetainedRows): StoreOperation[] {
  const both = [0, 1].flatMap((side) => partsRemoval({ ...retained, side, parts: TRAINING_ROWS_PARTS_MAX }));
  return [operation(headKey(retained), undefined), ...both];
}

function encodeHead({ columns, storedMs, rows, bytes, side, parts }: RetainedRows): Uint8Array {
  return HEAD.encode({ columns, storedMs, rows, bytes, side, parts });
}

function partsRemoval({ parts, side, ...owner }: RetainedRows): StoreOperation[] {
  return Array.from({ length: parts }, (_, part) => operation(partKey(owner, side, part), undefined));
}

function operation(key: Uint8Array, value: Uint8Array | undefined): StoreOperation {
  return { table: "training_rows", key, value };
}

function prefixOf({ tenant, service }: RowsOwner): Uint8Array {
  return new KeyBuilder().text(tenant).fixed(idBytes(service)).finish();
}

function headKey({ tenant, service }: RowsOwner): Uint8Array {
  return new KeyBuilder().text(tenant).fixed(idBytes(service)).u16(0).finish();
}

function partKey({ tenant, service }: RowsOwner, side: number, part: number): Uint8Array {
  return new KeyBuilder()
    .text(tenant)
    .fixed(idBytes(service))
    .u16(1 + side * TRAINING_ROWS_PARTS_MAX + part)
    .finish();
}
