// What stored anomalies have in common. LZ4 refers to it, so that an anomaly takes 0.5 KB instead of 2 (LMDB puts two values of 1.3 KB on a page).
// It is part of the format: what was written with it can be read only with it, so it never changes.

const TYPICAL = [
  '","tenant":"default","environment":"production","serviceId":"-service-","metricName":"http_request_duration_seconds_sum","attributes":{"env":"production","deployment.environment":"',
  '","instance":"10.0.0.1:9100","job":"kubernetes-pods-","namespace":"default","method":"GET","status":"200","pod":"","region":"us-east-1","host":"',
  '"},"direction":"low","detector":"z_score","startedAtMs":179',
  '"},"direction":"high","detector":"z_score","startedAtMs":17952',
  ',"detectedAtMs":17952',
  ',"observedAtMs":17952',
  ',"resolvedAtMs":null,"resolvedBy":null',
  ',"resolvedAtMs":17952',
  ',"resolvedBy":"recovered","z":',
  ',"verdict":{"detector":"z_score","observed":',
  ',"expected":',
  ',"lower":',
  ',"upper":',
  ',"z":-',
  ',"p":0.00',
  ',"threshold":3,"baseline":{"n":120,"mean":',
  ',"sd":',
  ',"median":',
  ',"bucket":null,"age_seconds":',
  '},"contributions":[],"gates":[{"name":"minimum_samples","passed":true,"value":120,"limit":12},{"name":"persistence","passed":true,"value":3.',
  ',"limit":6},{"name":"practical_significance","passed":true,"value":',
  ',"limit":0.5}],"suppressed_by":null,"layers":["statistical"]},"explanation":"',
  " was ",
  ", 3.",
  " standard deviations below its usual ",
  " standard deviations above its usual ",
  " (expected ",
  " to ",
  ' over the last 120 samples)","streams":1,"openStreams":0}',
];

/** The dictionary of the table of anomalies. */
export const ANOMALY_DICTIONARY: Uint8Array = new TextEncoder().encode(TYPICAL.join(""));
