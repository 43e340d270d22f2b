// Links from messages to pages of the user interface, whose place in the address stands behind its # (src/web/view/location.ts).

/** Page of an alert; `publicUrl` is PUBLIC_URL without a slash at its end. */
export function alertPage(publicUrl: string, alertId: string): string {
  return `${publicUrl}/#/alert/${encodeURIComponent(alertId)}`;
}
