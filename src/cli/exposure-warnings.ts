// Settings that work and that an operator may not have meant: a server that others reach without a credential, and messages without a link.

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that bring a channel. */
const CHANNELS = ["CHAT_WEBHOOKS", "CHAT_WEBHOOK_URL", "PAGER_ROUTING_KEY", "SMTP_URL", "ALERTOPS_API_KEY"] as const;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

/** One sentence for each. */
export function exposureWarnings(settings: Environment): string[] {
  const { HOST = "127.0.0.1", INGEST_AUTH = "optional", READ_AUTH = "loopback", ALERTS_HOST = "127.0.0.1", PUBLIC_URL = "" } = settings;
  const warnings: string[] = [];
  if (!LOOPBACK.test(HOST) && INGEST_AUTH !== "required") {
    const behind = READ_AUTH === "required" ? "" : ", and READ_AUTH=required, so that no proxy on this machine reads for others";
    warnings.push(
      `HOST=${HOST} is open to others and INGEST_AUTH is not required: whoever reaches it writes telemetry; set INGEST_AUTH=required${behind}`,
    );
  }
  if (!LOOPBACK.test(ALERTS_HOST))
    warnings.push(`ALERTS_HOST=${ALERTS_HOST} is open to others: whoever reaches it declares alerts, without a credential`);
  const channels = CHANNELS.filter((name) => (settings[name] ?? settings[`${name}_FILE`] ?? "") !== "");
  if (channels.length > 0 && PUBLIC_URL === "")
    warnings.push(
      `${channels.join(", ")} ${channels.length === 1 ? "is" : "are"} set and PUBLIC_URL is not: messages have no link to the alert's page`,
    );
  return warnings;
}
