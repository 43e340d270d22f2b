// A row of the ledger as a stored value, beside the key that says its tenant, its time and its id:
//
//   version u8 = 4, head u8 (HEAD_*, tier and outcome), ids u8 (how the anomaly's id is written, and 4 times how the alert's: ID_*), {anomaly id}, {alert id},
//   {suppressed by word}, detector word, z f64, environment, service and metric packed text (domain/codec/phrase-text.ts),
//   explanation (domain/anomaly/sentence.ts; in version 3 its words, packed text), gates (domain/anomaly/packed-gates.ts), {rca gate}
//
// The id of a row is that of its anomaly or its alert but for the last byte. Score and family follow. 100 bytes for a finding that a gate holds back.
import { familyOfDetector } from "../../../domain/alerting/paging/detector-family.ts";
import type { PageDecision } from "../../../domain/alerting/paging/page-decision.ts";
import { readGate, readGates, writeGate, writeGates } from "../../../domain/anomaly/packed-gates.ts";
import { readSentence, writeSentence } from "../../../domain/anomaly/sentence.ts";
import { readWord, TEXT_BYTES_MAX, writeWord } from "../../../domain/anomaly/verdict-codec.ts";
import { ByteReader } from "../../../domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../domain/codec/byte-writer.ts";
import { readPhrased, writePhrased } from "../../../domain/codec/phrase-text.ts";
import { anomalyScore } from "../../../domain/detection/anomaly-score.ts";
import { outcomeOf, tierAndOutcome, tierOf } from "../../state/row-fields.ts";
import { checkRowVersion } from "../../state/stored-json.ts";
import { ID_BYTES, type RowKey } from "../../state/tables.ts";

const VERSION = 4;
/** Has the words of every explanation; read for one release. */
const VERSION_OF_TEXT = 3;
/** Above the tier and the outcome. */
const HEAD_SUPPRESSED = 32;
const HEAD_RCA = 64;
/** Part of the format, these four. */
const ID_NONE = 0;
const ID_TEXT = 1;
const ID_HEX = 2;
/** Its last byte: the others are those of the row's id. */
const ID_OF_ROW = 3;
const ID_FORMS = 4;
/** Hex digits that the ids have in common. */
const COMMON_DIGITS = 2 * (ID_BYTES - 1);
const DAMAGE = "a stored decision is damaged";

const writer = new ByteWriter(4096);

/** Encodes a decision whose row has this id; `decodeDecision` gives it back equal. */
export function encodeDecision(decision: PageDecision, rowId: string): Uint8Array {
  const { anomalyId, alertId, suppressedBy, gates, rca, z, environment, serviceId, metricName } = decision;
  writer.at = 0;
  writer.u8(VERSION);
  writer.u8(
    tierAndOutcome(decision.tier, decision.outcome) | (suppressedBy === null ? 0 : HEAD_SUPPRESSED) | (rca === null ? 0 : HEAD_RCA),
  );
  const idsAt = writer.at;
  writer.u8(0);
  const anomalyForm = writeIdBeside(anomalyId, rowId);
  writer.bytes[idsAt] = anomalyForm + ID_FORMS * writeIdBeside(alertId, rowId);
  if (suppressedBy !== null) writeWord(writer, suppressedBy);
  writeWord(writer, decision.detector);
  writer.double(z);
  writePhrased(writer, environment);
  writePhrased(writer, serviceId);
  writePhrased(writer, metricName);
  writeSentence(writer, decision.explanation, { z, names: [metricName, serviceId, environment] });
  writeGates(writer, gates, { z, n: 0 });
  if (rca !== null) writeGate(writer, rca, { z, n: 0 });
  return writer.shortCopy();
}

/** Throws where a row is of another version. */
export function checkDecisionVersion(bytes: Uint8Array): void {
  if (bytes[0] !== VERSION_OF_TEXT) checkRowVersion("ledger", bytes, VERSION);
}

/** The decision of a row and its key. Throws on another version. */
export function decodeDecision(bytes: Uint8Array, { tenant, timeMs: atMs, id }: RowKey): PageDecision {
  checkDecisionVersion(bytes);
  const reader = new ByteReader(bytes, DAMAGE, 1);
  const head = reader.u8();
  const ids = reader.u8();
  const anomalyId = readIdBeside(reader, ids % ID_FORMS, id) ?? reader.fail();
  const alertId = readIdBeside(reader, Math.floor(ids / ID_FORMS), id);
  const suppressedBy = (head & HEAD_SUPPRESSED) === 0 ? null : readWord(reader);
  const detector = readWord(reader);
  const z = reader.double();
  const environment = readPhrased(reader, TEXT_BYTES_MAX);
  const serviceId = readPhrased(reader, TEXT_BYTES_MAX);
  const metricName = readPhrased(reader, TEXT_BYTES_MAX);
  const names = [metricName, serviceId, environment] as const;
  const explanation =
    bytes[0] === VERSION_OF_TEXT ? readPhrased(reader, TEXT_BYTES_MAX, names) : readSentence(reader, { z, names: [...names] });
  const gates = readGates(reader, { z, n: 0 });
  const rca = (head & HEAD_RCA) === 0 ? null : readGate(reader, { z, n: 0 });
  return {
    atMs,
    tenant,
    environment,
    serviceId,
    metricName,
    detector,
    family: familyOfDetector(detector),
    anomalyId,
    alertId,
    tier: tierOf(reader, head),
    score: anomalyScore(z),
    z,
    outcome: outcomeOf(reader, head),
    suppressedBy,
    gates,
    rca,
    explanation,
  };
}

/** Writes an id; answers how. */
function writeIdBeside(id: string | null, rowId: string): number {
  if (id === null) return ID_NONE;
  if (id.length === 2 * ID_BYTES) {
    const isOfRow = id.startsWith(rowId.slice(0, COMMON_DIGITS));
    if (writer.tryHex(isOfRow ? id.slice(COMMON_DIGITS) : id)) return isOfRow ? ID_OF_ROW : ID_HEX;
  }
  writer.text(id);
  return ID_TEXT;
}

function readIdBeside(reader: ByteReader, form: number, rowId: string): string | null {
  switch (form) {
    case ID_NONE:
      return null;
    case ID_TEXT:
      return reader.text(TEXT_BYTES_MAX);
    case ID_HEX:
      return reader.hex(ID_BYTES);
    case ID_OF_ROW:
      return rowId.slice(0, COMMON_DIGITS) + reader.hex(1);
    default:
      return reader.fail();
  }
}
