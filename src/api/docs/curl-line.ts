// A request that can be pasted into a shell. $VEDETTE is the server's address, $TOKEN a credential.
import type { Endpoint } from "../endpoint.ts";

/** The command; `example` is the body where there is one. */
export function curlLine({ method, path, access, body, bodyTypes, takes }: Endpoint, example: unknown): string {
  const parts = ["curl", ...(method === "GET" ? [] : ["-X", method]), `"$VEDETTE${path.replaceAll(/\{[^}]+\}/g, "ID")}"`];
  if (needsCredential(access)) parts.push('-H "Authorization: Bearer $TOKEN"');
  const mediaType = takes?.[0]?.mediaType ?? (body === undefined ? undefined : (bodyTypes?.[0] ?? "application/json"));
  if (mediaType !== undefined) parts.push(`-H 'Content-Type: ${mediaType}'`);
  if (typeof example === "string") parts.push("--data-binary @FILE");
  else if (example !== undefined) parts.push(`-d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`);
  else if (mediaType !== undefined) parts.push("--data-binary @FILE");
  return parts.join(" ");
}

/** On this machine reading and operating need none, nor does writing telemetry, by the defaults of READ_AUTH and INGEST_AUTH. */
function needsCredential(access: Endpoint["access"]): boolean {
  return access === "admin" || access === "super_admin" || access === "system";
}
