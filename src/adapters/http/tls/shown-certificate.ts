import { TLSSocket } from "node:tls";

/** Whether the peer has shown a good certificate. `authorized` alone does not do: node says so too of a TLS 1.3 session that was taken up again and never had one. */
export function showsCertificate(socket: unknown): boolean {
  return socket instanceof TLSSocket && socket.authorized && socket.getPeerX509Certificate() !== undefined;
}
