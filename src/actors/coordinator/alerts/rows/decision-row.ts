// A row of the ledger as a stored value:
//
//   version u8 = 2, at f64, tenant, environment, service and metric text, detector word, anomaly id, {alert id}, tier u8, z f64, outcome u8, {suppressed by
//   word}, explanation text, gates (name word, form u8, {value and limit f64}), {rca gate}
//
// A condition that held, which is most of them, is its name alone. Score and family follow. Version 1 is JSON (first-version.ts) and is read.
import { familyOfDetector } from "../../../../domain/alerting/paging/detector-family.ts";
import type { PageDecision } from "../../../../domain/alerting/paging/page-decision.ts";
import { ByteReader } from "../../../../domain/codec/byte-reader.ts";
import { ByteSink } from "../../../../domain/codec/byte-sink.ts";
import { anomalyScore } from "../../../../domain/detection/anomaly-score.ts";
import type { GateResult } from "../../../../domain/detection/gates/gate-result.ts";
import { readOptionalWord, readWord, writeOptionalWord, writeWord } from "../../../../domain/incident/verdict-codec.ts";
import {
  readId,
  readList,
  readOptionalId,
  readOutcome,
  readTier,
  TEXT_BYTES_MAX,
  writeId,
  writeOptionalId,
  writeOutcome,
  writeTier,
} from "../../tables/row-fields.ts";
import { decodeFirstDecision } from "./first-version.ts";

const VERSION = 2;
/** Part of the format, these three. */
const GATE_FAILED = 0;
const GATE_PASSED = 1;
/** Passed with 1 against 1. */
const GATE_HELD = 2;
const DAMAGE = "a stored decision is damaged";

const sink = new ByteSink(4096);

/** Encodes a decision; `decodeDecision` gives it back equal. */
export function encodeDecision(decision: PageDecision): Uint8Array {
  const { alertId, gates, rca } = decision;
  sink.at = 0;
  sink.u8(VERSION);
  sink.double(decision.atMs);
  sink.text(decision.tenant);
  sink.text(decision.environment);
  sink.text(decision.serviceId);
  sink.text(decision.metricName);
  writeWord(sink, decision.detector);
  writeId(sink, decision.anomalyId);
  writeOptionalId(sink, alertId);
  writeTier(sink, decision.tier);
  sink.double(decision.z);
  writeOutcome(sink, decision.outcome);
  writeOptionalWord(sink, decision.suppressedBy);
  sink.text(decision.explanation);
  sink.varint(gates.length);
  for (const gate of gates) writeGate(gate);
  sink.u8(rca === null ? 0 : 1);
  if (rca !== null) writeGate(rca);
  return sink.bytes.slice(0, sink.at);
}

/** Throws on another version. */
export function decodeDecision(bytes: Uint8Array): PageDecision {
  if (bytes[0] !== VERSION) return decodeFirstDecision(bytes);
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

function writeGate({ name, passed, value, limit }: GateResult): void {
  const held = passed && value === 1 && limit === 1;
  writeWord(sink, name);
  sink.u8(held ? GATE_HELD : passed ? GATE_PASSED : GATE_FAILED);
  if (held) return;
  sink.double(value);
  sink.double(limit);
}

function readGate(reader: ByteReader): GateResult {
  const name = readWord(reader);
  const form = reader.u8();
  if (form === GATE_HELD) return { name, passed: true, value: 1, limit: 1 };
  return { name, passed: form === GATE_PASSED, value: reader.double(), limit: reader.double() };
}
