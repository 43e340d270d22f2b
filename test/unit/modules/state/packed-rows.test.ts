// What is packed by hand is a format: bytes of this version are read by every later one. A round trip alone would not notice that a table of words or phrases was put in another order.
import { expect, it } from "vitest";
import { decodeEpisode, encodeEpisode } from "../../../../src/domain/anomaly/episode-codec.ts";
import { explanationOf, sentenceText } from "../../../../src/domain/anomaly/sentence.ts";
import { decodeDecision, encodeDecision } from "../../../../src/modules/alerts/rows/decision-row.ts";
import { decodeAnomaly, encodeAnomaly, isEndedRow } from "../../../../src/modules/anomalies/anomaly-row.ts";
import { STORED_ANOMALY, STORED_DECISION, STORED_FRAME } from "../../../support/packed-rows.ts";

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const bytesOf = (text: string) => Buffer.from(text, "base64");

it("a stored anomaly is read, and written in the same bytes", () => {
  const { anomaly, bytes } = STORED_ANOMALY;
  const { tenant, detectedAtMs: timeMs, id } = anomaly;
  expect(decodeAnomaly(bytesOf(bytes), { tenant, timeMs, id })).toEqual(anomaly);
  expect(base64(encodeAnomaly(anomaly))).toBe(bytes);
  expect(explanationOf(anomaly)).toBe(STORED_ANOMALY.text);
});

it("an anomaly that was stored with the words of its sentence is read with these", () => {
  const { anomaly, ofText, text } = STORED_ANOMALY;
  const { tenant, detectedAtMs: timeMs, id } = anomaly;
  const read = decodeAnomaly(bytesOf(ofText), { tenant, timeMs, id });
  expect(read).toEqual({ ...anomaly, explanation: text });
  expect(isEndedRow(bytesOf(ofText))).toBe(true);
  expect(decodeAnomaly(encodeAnomaly(read), { tenant, timeMs, id })).toEqual(read);
});

it("a stored decision is read, and written in the same bytes", () => {
  const { decision, rowId, bytes } = STORED_DECISION;
  expect(decodeDecision(bytesOf(bytes), { tenant: decision.tenant, timeMs: decision.atMs, id: rowId })).toEqual(decision);
  expect(base64(encodeDecision(decision, rowId))).toBe(bytes);
  expect(sentenceText(decision.explanation)).toBe(STORED_DECISION.text);
});

it("a decision that was stored with the words of its sentence is read with these", () => {
  const { decision, rowId, ofText, text } = STORED_DECISION;
  const place = { tenant: decision.tenant, timeMs: decision.atMs, id: rowId };
  const read = decodeDecision(bytesOf(ofText), place);
  expect(read).toEqual({ ...decision, explanation: text });
  expect(decodeDecision(encodeDecision(read, rowId), place)).toEqual(read);
});

it("a frame of an episode is read, member by member in the verdict's order, and written in the same bytes", () => {
  const { frame, bytes } = STORED_FRAME;
  const { verdict, transition, level, z } = decodeEpisode(bytesOf(bytes));
  expect({ transition, level, z }).toEqual({ transition: frame.transition, level: frame.level, z: frame.z });
  expect(JSON.stringify(verdict)).toBe(JSON.stringify(frame.verdict));
  expect(base64(encodeEpisode(frame))).toBe(bytes);
});
