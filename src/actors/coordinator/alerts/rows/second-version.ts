// A row of the ledger as it was stored in its second version, read only:
//
//   version u8 = 2, at f64, tenant, environment, service and metric text, detector word, anomaly id, {alert id}, tier u8, z f64, outcome u8, {suppressed by
//   word}, explanation text, gates (name word, form u8, {value and limit f64}), {rca gate}
//
// A condition that held, which is most of them, is its name alone. Score and family follow.
import { familyOfDetector } from "../../../../domain/alerting/paging/detector-family.ts";
import type { PageDecision } from "../../../../domain/alerting/paging/page-decision.ts";
import { ByteReader } from "../../../../domain/codec/byte-reader.ts";
import { anomalyScore } from "../../../../domain/detection/anomaly-score.ts";
import type { GateResult } from "../../../../domain/detection/gates/gate-result.ts";
import { readOptionalWord, readWord } from "../../../../domain/incident/verdict-codec.ts";
import { readId, readList, readOptionalId, readOutcome, readTier, TEXT_BYTES_MAX } from "../../state/row-fields.ts";

/** Part of the format, both. */
const GATE_PASSED = 1;
/** Passed with 1 against 1. */
const GATE_HELD = 2;
const DAMAGE = "a stored decision is damaged";

/** Throws on bytes that are damaged. */
export function decodeSecondDecision(bytes: Uint8Array): PageDecision {
  const reader = new ByteReader(bytes, DAMAGE, 1);
  const atMs = reader.double();
  const [tenant, environment] = [reader.text(TEXT_BYTES_MAX), reader.text(TEXT_BYTES_MAX)];
  const [serviceId, metricName] = [reader.text(TEXT_BYTES_MAX), reader.text(TEXT_BYTES_MAX)];
  const detector = readWord(reader);
  const anomalyId = readId(reader);
  const alertId = readOptionalId(reader);
  const tier = readTier(reader);
  const z = reader.double();
  const outcome = readOutcome(reader);
  const suppressedBy = readOptionalWord(reader);
  const explanation = reader.text(TEXT_BYTES_MAX);
  const gates = readList(reader, () => readGate(reader));
  const rca = reader.u8() === 0 ? null : readGate(reader);
  const [family, score] = [familyOfDetector(detector), anomalyScore(z)];
  return {
    atMs,
    tenant,
    environment,
    serviceId,
    metricName,
    detector,
    family,
    anomalyId,
    alertId,
    tier,
    score,
    z,
    outcome,
    suppressedBy,
    gates,
    rca,
    explanation,
  };
}

function readGate(reader: ByteReader): GateResult {
  const name = readWord(reader);
  const form = reader.u8();
  if (form === GATE_HELD) return { name, passed: true, value: 1, limit: 1 };
  return { name, passed: form === GATE_PASSED, value: reader.double(), limit: reader.double() };
}
