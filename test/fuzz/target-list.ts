// Every decoder that reads what others wrote, in the order in which a run takes them.
import type { HttpEngineName } from "../../src/adapters/http/http-server.ts";
import type { FuzzTarget } from "./target.ts";
import { jsonCatalogTarget, yamlCatalogTarget } from "./targets/catalogs.ts";
import { chunkBlockTarget, sampleChunkTarget, waitingChunksTarget } from "./targets/chunks.ts";
import { distributionTarget } from "./targets/distributions.ts";
import { csvHistoryTarget, jsonHistoryTarget } from "./targets/history.ts";
import { jsonBodyTarget, jsonDepthTarget } from "./targets/json-bodies.ts";
import { labelSpanTarget } from "./targets/label-span.ts";
import { logBlocksTarget } from "./targets/log-blocks.ts";
import { otlpJsonTarget, otlpLogsTarget, otlpMetricsTarget, otlpTracesTarget } from "./targets/otlp.ts";
import { packedRowsTarget } from "./targets/packed-rows.ts";
import { remoteWriteTarget, warmRemoteWriteTarget } from "./targets/remote-write.ts";
import { nativeHistogramTarget, remoteWrite2Target, warmRemoteWrite2Target } from "./targets/remote-write-2.ts";
import { pageTokenTarget, queryTarget } from "./targets/requests.ts";
import { snappyTarget } from "./targets/snappy.ts";
import { checkpointPartTarget, checkpointRowTarget, keyTarget, storedRecordTarget } from "./targets/stored-state.ts";
import { timestampTarget } from "./targets/timestamps.ts";
import { callEdgesTarget, closedWindowsTarget, joinMessageTarget, spanBlockTarget, windowMessageTarget } from "./targets/trace-messages.ts";
import { usageTarget } from "./targets/usage.ts";

/** Makes each target by its name. */
export const TARGETS: Readonly<Record<string, () => FuzzTarget>> = {
  snappy: snappyTarget,
  "remote-write": remoteWriteTarget,
  "remote-write-warm": warmRemoteWriteTarget,
  "remote-write-2": remoteWrite2Target,
  "remote-write-2-warm": warmRemoteWrite2Target,
  "native-histogram": nativeHistogramTarget,
  "otlp-metrics": otlpMetricsTarget,
  "otlp-traces": otlpTracesTarget,
  "otlp-logs": otlpLogsTarget,
  "otlp-json": otlpJsonTarget,
  "label-span": labelSpanTarget,
  "json-body": jsonBodyTarget,
  "json-depth": jsonDepthTarget,
  rfc3339: timestampTarget,
  "packed-rows": packedRowsTarget,
  usage: usageTarget,
  "sample-chunk": sampleChunkTarget,
  "chunk-block": chunkBlockTarget,
  "waiting-chunks": waitingChunksTarget,
  "log-blocks": logBlocksTarget,
  distribution: distributionTarget,
  "checkpoint-part": checkpointPartTarget,
  "checkpoint-row": checkpointRowTarget,
  "stored-record": storedRecordTarget,
  "window-message": windowMessageTarget,
  "join-message": joinMessageTarget,
  "call-edges": callEdgesTarget,
  "span-block": spanBlockTarget,
  "closed-windows": closedWindowsTarget,
  key: keyTarget,
  "page-token": pageTokenTarget,
  query: queryTarget,
  "csv-history": csvHistoryTarget,
  "json-history": jsonHistoryTarget,
  "catalog-yaml": yamlCatalogTarget,
  "catalog-json": jsonCatalogTarget,
};

/** The HTTP adapters, by the names of their targets; both share the corpus "http". */
export const HTTP_TARGETS: Readonly<Record<string, HttpEngineName>> = { "http-uws": "uws", "http-node": "node" };
export const HTTP_CORPUS = "http";
