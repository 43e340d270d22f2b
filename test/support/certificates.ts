// Certificates of a test, made by openssl: an authority of its own, what it has signed, and one that it has not.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Paths of a certificate and its key, in PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** One folder of certificates, for 127.0.0.1 and localhost. */
export class Certificates {
  readonly #folder = mkdtempSync(join(tmpdir(), "vedette-tls-"));
  readonly authority = this.selfSigned("authority");

  /** Signed by the authority; ends in `days` from now. */
  signed(name: string, days = 30): CertificateFiles {
    const { certificate, key } = this.files(name);
    const request = this.path(`${name}.csr`);
    const extensions = this.path(`${name}.ext`);
    writeFileSync(extensions, "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    openssl("req", ...CURVE, "-keyout", key, "-out", request, "-subj", `/CN=${name}`);
    const signing = ["-CA", this.authority.certificate, "-CAkey", this.authority.key, "-CAcreateserial", "-extfile", extensions];
    openssl("x509", "-req", "-in", request, ...signing, "-days", String(days), "-out", certificate);
    return { certificate, key };
  }

  /** Signed by nobody but itself. */
  selfSigned(name: string): CertificateFiles {
    const { certificate, key } = this.files(name);
    openssl("req", "-x509", ...CURVE, "-keyout", key, "-out", certificate, "-days", "30", "-subj", `/CN=${name}`);
    return { certificate, key };
  }

  /** A file of the folder, which is there or not. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  files(name: string): CertificateFiles {
    return { certificate: this.path(`${name}.pem`), key: this.path(`${name}.key`) };
  }

  /** Puts one pair in the place of another, as a renewal does: first the certificate, then the key. */
  replace(place: CertificateFiles, by: CertificateFiles): void {
    copyFileSync(by.certificate, place.certificate);
    copyFileSync(by.key, place.key);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
