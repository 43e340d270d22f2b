// What stored anomalies have in common. LZ4 refers to it, so that an anomaly takes 0.5 KB instead of 2 (LMDB puts two values of 1.3 KB on a page).
// It is part of the format: what was written with it can be read only with it, so it never changes.

const TYPICAL = [
  '","z_score",17952',
  '"recovered",-',
  ",null,null,",
  ',1,1,null,{"env":"production","deployment.environment":"',
  ',1,0,null,{"env":"production","instance":"10.0.0.1:9100","job":"kubernetes-pods-',
  '","namespace":"default","service":"","le":"","code":"200","method":"GET","status":"200","path":"/api/","pod":"","region":"us-east-1","host":"',
  '["default","production","',
  "-service-",
  '","http_request_duration_seconds_sum',
  "_total",
  "_bytes",
  "_count",
  "_seconds",
  '","high","z_score",17952',
  '","low","z_score",17952',
  '},{"detector":"z_score","observed":',
  ',"expected":',
  ',"lower":',
  ',"upper":',
  ',"z":-',
  ',"z":3.',
  ',"p":0.00',
  ',"threshold":3,"baseline":{"n":120,"mean":',
  ',"sd":0.',
  ',"median":',
  ',"bucket":null,"age_seconds":',
  '},"contributions":[],"gates":[{"name":"practical_significance","passed":true,"value":0.',
  ',"limit":0.5},{"name":"minimum_samples","passed":true,"value":120,"limit":12},{"name":"persistence","passed":true,"value":3.',
  ',"limit":6}],"suppressed_by":null,"layers":["statistical"]}]',
];

/** The dictionary of the table of anomalies. */
export const ANOMALY_DICTIONARY: Uint8Array = new TextEncoder().encode(TYPICAL.join(""));
