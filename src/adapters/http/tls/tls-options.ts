// An identity as node's TLS takes it.

import { TLSSocket } from "node:tls";
import { TLS_CIPHERS, TLS_VERSION_MIN, type TlsIdentity } from "./tls-identity.ts";

/** Certificate options that are shown; they may be changed while a server listens. */
function secureOptions({ certificate, key, clientAuthorities }: TlsIdentity) {
  return {
    cert: certificate,
    key,
    minVersion: TLS_VERSION_MIN,
    ciphers: TLS_CIPHERS,
    ...(clientAuthorities !== undefined && { ca: clientAuthorities }),
  } as const;
}

/** Shows another identity to connections that a server takes from now on; nothing where it speaks no TLS. */
export function renewIdentity(server: object, identity: TlsIdentity): void {
  if (canRenew(server)) server.setSecureContext(secureOptions(identity));
}

function canRenew(server: object): server is { setSecureContext(options: ReturnType<typeof secureOptions>): void } {
  return "setSecureContext" in server;
}

/** Who shows no certificate, or another's, is let in all the same: what that opens, the gate decides, and says in words. */
export function tlsOptions(identity: TlsIdentity) {
  return { ...secureOptions(identity), requestCert: identity.clientAuthorities !== undefined, rejectUnauthorized: false };
}

/** Whether the peer has shown a good certificate. `authorized` alone does not do: node says so too of a TLS 1.3 session that was taken up again and never had one. */
export function showsCertificate(socket: unknown): boolean {
  return socket instanceof TLSSocket && socket.authorized && socket.getPeerX509Certificate() !== undefined;
}
