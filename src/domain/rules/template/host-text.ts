// Hosts with ports and domains: stripPort and stripDomain, by the rules of Go's net.SplitHostPort.

interface HostPort {
  readonly host: string;
  readonly port: string;
}

/** Host and port of a text such as a:80 or [::1]:80; undefined where it is not one. */
function splitHostPort(text: string): HostPort | undefined {
  const bracketed = /^\[([^[\]]*)\]:([^:[\]]*)$/.exec(text);
  if (bracketed !== null) return { host: bracketed[1] as string, port: bracketed[2] as string };
  const plain = /^([^:[\]]*):([^:[\]]*)$/.exec(text);
  return plain === null ? undefined : { host: plain[1] as string, port: plain[2] as string };
}

/** The host without its port. */
export function stripPort(text: string): string {
  return splitHostPort(text)?.host ?? text;
}

function isAddress(host: string): boolean {
  const parts = host.split(".");
  if (parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return true;
  return /^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(host);
}

/** The first part of a host's name, with its port; addresses stay. */
export function stripDomain(text: string): string {
  const { host, port } = splitHostPort(text) ?? { host: text, port: "" };
  if (isAddress(host)) return text;
  const first = host.split(".")[0] as string;
  return port === "" ? first : `${first}:${port}`;
}

/** A text as a query's part of a URL has it: Go's url.QueryEscape. */
export function queryEscape(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll("%20", "+")
    .replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
