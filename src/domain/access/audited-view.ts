// What of a view stands in the audit log. Views are made without secrets; what a later one might let through by mistake is taken out here once more.
import { AUDIT_VIEW_BYTES_MAX } from "../../core/config/limits.ts";

const REDACTED = "(redacted)";
/** Names of members whose text is a secret, whatever it is a member of. */
const SECRET_NAME =
  /(?:^|[_.-])(?:secret|password|passwd|token|credentials?|authorization|cookie|api[_-]?key|private[_-]?key|routing[_-]?key)$/i;
/** User name and password in a URL. */
const URL_CREDENTIALS = /(?<=:\/\/)[^/?#@\s]*@/g;

/** The view without secrets: a copy. One of more than AUDIT_VIEW_BYTES_MAX is left out, and its size told. */
export function auditedView(view: unknown): unknown {
  if (view === null || view === undefined) return null;
  const text = JSON.stringify(view, (name, value: unknown) => {
    if (typeof value !== "string") return value;
    return SECRET_NAME.test(name) ? REDACTED : value.replace(URL_CREDENTIALS, `${REDACTED}@`);
  });
  const bytes = Buffer.byteLength(text);
  return bytes > AUDIT_VIEW_BYTES_MAX ? { left_out: `${bytes} bytes; a row holds ${AUDIT_VIEW_BYTES_MAX}` } : JSON.parse(text);
}
