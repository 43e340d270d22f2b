// The certificate that this server shows, its key, and whose certificates senders must have: read from files and checked before anything listens with them.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { ConfigError } from "../../../core/config/config-error.ts";
import { firstLineOf } from "../../../core/text/error-text.ts";

/** Older versions of TLS are broken (RFC 8996). uWebSockets.js has the same bound built in. */
export const TLS_VERSION_MIN = "TLSv1.2";

/** Ciphers of TLS 1.3, and of TLS 1.2 those with forward secrecy that seal what they send: none in CBC. */
export const TLS_CIPHERS = [
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "TLS_AES_128_GCM_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/** Files by the settings that name them; "" for none. */
export interface TlsFiles {
  readonly TLS_CERT_FILE: string;
  readonly TLS_KEY_FILE: string;
  readonly TLS_CLIENT_CA_FILE: string;
}

/** Contents of the files when they were read, found to belong together. */
export interface TlsIdentity {
  readonly files: TlsFiles;
  /** The certificate with those that it is signed by, in PEM. */
  readonly certificate: string;
  readonly key: string;
  /** Certificate authorities of senders, in PEM; undefined where senders need no certificate. */
  readonly clientAuthorities: string | undefined;
  /** Wall time at which the certificate ends. */
  readonly expiresMs: number;
}

/** Reads and checks the files; undefined where none is set. Throws ConfigError with one line. */
export function readTlsIdentity(files: TlsFiles, nowMs: number): TlsIdentity | undefined {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_CLIENT_CA_FILE: authoritiesFile } = files;
  if (certFile === "" && keyFile === "" && authoritiesFile === "") return undefined;
  if (certFile === "") throw new ConfigError(`${keyFile === "" ? "TLS_CLIENT_CA_FILE" : "TLS_KEY_FILE"} needs TLS_CERT_FILE besides`);
  if (keyFile === "") throw new ConfigError("TLS_CERT_FILE needs TLS_KEY_FILE besides: the certificate's private key");
  const certificate = readPem("TLS_CERT_FILE", certFile);
  const key = readPem("TLS_KEY_FILE", keyFile);
  const clientAuthorities = authoritiesFile === "" ? undefined : readPem("TLS_CLIENT_CA_FILE", authoritiesFile);
  const expiresMs = checkPair(certificate, key, nowMs);
  if (clientAuthorities !== undefined) parseCertificate("TLS_CLIENT_CA_FILE", clientAuthorities);
  checkContext(certificate, key, clientAuthorities);
  return { files, certificate, key, clientAuthorities, expiresMs };
}

/** Whether two identities are the same bytes. */
export function isSameIdentity(one: TlsIdentity, other: TlsIdentity): boolean {
  return one.certificate === other.certificate && one.key === other.key && one.clientAuthorities === other.clientAuthorities;
}

function readPem(setting: string, path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    throw new ConfigError(`${setting} cannot be read: ${lineOf(error)}`);
  }
}

function parseCertificate(setting: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new ConfigError(`${setting} holds no certificate in PEM: ${lineOf(error)}`);
  }
}

/** Returns when the certificate ends. */
function checkPair(certificate: string, key: string, nowMs: number): number {
  const leaf = parseCertificate("TLS_CERT_FILE", certificate);
  if (!leaf.checkPrivateKey(parseKey(key)))
    throw new ConfigError(
      "TLS_KEY_FILE is not the key of TLS_CERT_FILE: the certificate of the server itself must stand first in its file",
    );
  const expiresMs = Date.parse(leaf.validTo);
  if (expiresMs <= nowMs) throw new ConfigError(`TLS_CERT_FILE holds a certificate that ended on ${leaf.validTo}: renew it`);
  if (Date.parse(leaf.validFrom) > nowMs)
    throw new ConfigError(`TLS_CERT_FILE holds a certificate that begins on ${leaf.validFrom}: is the clock right?`);
  return expiresMs;
}

function parseKey(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isLocked = pem.includes("ENCRYPTED");
    if (isLocked) throw new ConfigError("TLS_KEY_FILE is encrypted; write it without a passphrase: openssl pkey -in FILE -out NEW_FILE");
    throw new ConfigError(`TLS_KEY_FILE holds no private key in PEM: ${lineOf(error)}`);
  }
}

/** Checks of OpenSSL besides: weak keys, a broken chain of certificates. */
function checkContext(cert: string, key: string, ca: string | undefined): void {
  try {
    createSecureContext({ cert, key, ...(ca !== undefined && { ca }), minVersion: TLS_VERSION_MIN });
  } catch (error) {
    throw new ConfigError(`TLS_CERT_FILE and TLS_KEY_FILE cannot be used: ${lineOf(error)}`);
  }
}

function lineOf(error: unknown): string {
  return firstLineOf(error);
}
