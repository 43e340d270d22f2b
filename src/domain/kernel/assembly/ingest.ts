// What the decoding half exports: everything that turns a body into rows. TypeScript's view of it is src/domain/kernel/ingest-kernel.ts.
export { snappyDecompress } from "./wire/snappy";
export { identityHash, setSeeds } from "./hash/identity-hash";
export { foundDestination, foundPartition, foundRef, keyInsert, keyLookup, keyStartMovedMs, keyTableClear, keyTableEntries } from "./ingest/key-table";
export { keyTextBytes } from "./ingest/key-texts";
export { rejectsCount, rejectsReset, stagedBytes, stagedRows, stageRow, stageStale, stageStart, stagingReset } from "./ingest/row-staging";
export { exemplarCount, histogramCount, metadataCount } from "./remote-write/remote-write-index";
export {
  defineAllow, definedDestination, definedHash, definedIsKnown, defineFinish, definePrepare, defineRefs, defineRefsLeft, defineSetup, defineTenant,
  definitionsBytes, definitionsReset,
} from "./definition/stream-definition";
export { exemplarCount2, histogramCount2 } from "./remote-write/remote-write-2-index";
export { seriesKindsAdd, seriesKindsClear } from "./definition/series-kinds";
export { symbolBytes, symbolCount, symbolPointer } from "./remote-write/remote-write-symbols";
export {
  defineSettle, remoteWrite2Begin, remoteWriteBegin, remoteWriteGoOn, remoteWriteSuspend, remoteWriteNoted,
  remoteWriteSkipped, remoteWriteRebase, remoteWriteReplica, remoteWriteResolve, remoteWriteSkipSeries, remoteWriteStep, remoteWriteUnobserved, replicaSource,
  unknownBytes, unknownPointer,
} from "./remote-write/remote-write-walk";
export { metadataHelp, metadataType, metadataUnit } from "./remote-write/remote-write-metadata";
export { otlpElementsLeft, otlpElementsMax } from "./otlp/otlp-elements";
export { checkTraces as otlpRequestCheck } from "./traces/otlp-traces-check";
export { otlpDistributions } from "./otlp/otlp-metrics-index";
export { otlpMetricsBegin, otlpMetricsGoOn, otlpMetricsSuspend, otlpMetricsResolve, otlpMetricsSkip, otlpMetricsStep } from "./otlp/otlp-metrics-walk";
export { otlpTracesBegin, otlpTracesGoOn, otlpTracesSuspend, otlpTracesStep } from "./traces/otlp-traces-walk";
export { spanTextBytes, spanTextPointer, spanTextsFirst } from "./traces/span-texts";
export { jsonDepth } from "./json/json-depth";
export {
  jsonFailedAt, jsonRecordBytes, jsonRecordIndex, jsonRecordNext, jsonRecordPointer, jsonRecordsBegin, jsonRecordsEnd, jsonRecordsStep,
} from "./json/json-record-stage";
export { jsonRun, jsonRunElements, jsonRunEnd, jsonRunNext, jsonRunObjects, jsonRunOthers, jsonSpaceEnd, jsonValueEnd } from "./json/json-run";
export { packRows, unpackRows } from "./ingest/row-pack";
export { translatedRows, translateRows } from "./ingest/row-translation";
