// What a name that a caller gives to whom it calls says: an address, a name inside the network, a host outside.

const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[?[\da-f]*:[\d.:a-f]*\]?)$/i;
const INSIDE = /^(?:localhost|[^.]+)$|\.(?:local|internal|lan|svc|cluster\.local|localdomain)$/i;
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/i;
const PORT = /:\d{1,5}$/;

/** A name without its port; a bare IPv6 address stays whole. */
export function withoutPort(name: string): string {
  const hasPort = name.indexOf(":") === name.lastIndexOf(":") || name.includes("]:");
  return hasPort ? name.replace(PORT, "") : name;
}

/** The host of a name, to be compared. */
export function hostOf(name: string): string {
  return withoutPort(name).toLowerCase();
}

export function isAddress(host: string): boolean {
  return ADDRESS.test(host);
}

/** Whether a host is a bare word or of a zone that no public name has. */
export function isInside(host: string): boolean {
  return INSIDE.test(host);
}

/** Whether a host is the caller's own: every caller has one of that name. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
