// What the lane exports: everything that turns a body into rows. TypeScript's view of it is src/domain/kernel/lane-kernel.ts.
export { snappyDecompress } from "./snappy";
export { identityHash, setSeeds } from "./identity-hash";
export { foundDestination, foundPartition, foundRef, laneInsert, laneLookup, laneStartMovedMs, laneTableClear, laneTableEntries } from "./lane-table";
export { laneTextBytes } from "./lane-texts";
export { rejectsCount, rejectsReset, stagedBytes, stagedRows, stageRow, stageStale, stageStart, stagingReset } from "./lane-staging";
export { exemplarCount, histogramCount, metadataCount } from "./remote-write-index";
export {
  defineAllow, definedDestination, definedHash, definedIsHeld, defineFinish, definePrepare, defineRefs, defineRefsLeft, defineSetup, defineTenant,
  definitionsBytes, definitionsReset,
} from "./stream-definition";
export { exemplarCount2, histogramCount2 } from "./remote-write-2-index";
export { seriesKindsAdd, seriesKindsClear } from "./series-kinds";
export { symbolBytes, symbolCount, symbolPointer } from "./remote-write-symbols";
export {
  defineSettle, metadataHelp, metadataType, metadataUnit, remoteWrite2Begin, remoteWriteBegin, remoteWriteNoted, remoteWritePassedOver,
  remoteWriteRebase, remoteWriteReplica, remoteWriteResolve, remoteWriteSkipSeries, remoteWriteStep, remoteWriteUnobserved, replicaSource,
  unknownBytes, unknownPointer,
} from "./remote-write-walk";
export { otlpElementsLeft, otlpElementsMax } from "./otlp-elements";
export { checkTraces as otlpRequestCheck } from "./otlp-traces-check";
export { otlpDistributions } from "./otlp-metrics-index";
export { otlpMetricsBegin, otlpMetricsResolve, otlpMetricsSkip, otlpMetricsStep } from "./otlp-metrics-walk";
export { otlpTracesBegin, otlpTracesStep } from "./otlp-traces-walk";
export { spanTextBytes, spanTextPointer, spanTextsFirst } from "./span-texts";
export { jsonDepth } from "./json-depth";
export {
  jsonFailedAt, jsonRecordBytes, jsonRecordIndex, jsonRecordNext, jsonRecordPointer, jsonRecordsBegin, jsonRecordsEnd, jsonRecordsStep,
} from "./json-record-stage";
export { jsonRun, jsonRunElements, jsonRunEnd, jsonRunNext, jsonRunObjects, jsonRunOthers, jsonSpaceEnd, jsonValueEnd } from "./json-run";
export { packRows, unpackRows } from "./row-pack";
export { translatedRows, translateRows } from "./row-translation";
