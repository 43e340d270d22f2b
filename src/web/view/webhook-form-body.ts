// A webhook as the fields of its form, and the body that they make.

/** Fields, all as text. */
export interface WebhookFields {
  readonly name: string;
  readonly url: string;
  readonly headers: string;
  readonly service_id_regex: string;
  readonly metric_name_regex: string;
  readonly min_anomaly_score: string;
  readonly environments: string;
  readonly root_cause_category: string;
  readonly secret: string;
  readonly max_attempts: string;
  /** Empty: none. */
  readonly transform: string;
  readonly program: string;
  readonly enabled: string;
}

/** Source of the fields' values. */
export interface ShownWebhook {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pattern: EventPattern;
  readonly transform: { readonly type: string; readonly expression?: string | undefined; readonly code?: string | undefined } | null;
  readonly retry: Readonly<Record<"max_attempts" | "initial_delay_ms" | "backoff_multiplier" | "max_delay_ms", number>>;
  readonly secret: string | null;
  readonly enabled: boolean;
}

interface EventPattern {
  readonly service_id_regex: string | null;
  readonly metric_name_regex: string | null;
  readonly min_anomaly_score: number | null;
  readonly root_cause_category: string | null;
  readonly environments: readonly string[] | null;
}

/** The fields of a webhook; of a new one empty. */
export function initialWebhook(webhook?: ShownWebhook): WebhookFields {
  const { pattern, transform } = webhook ?? {};
  return {
    name: webhook?.name ?? "",
    url: webhook?.url ?? "",
    headers: Object.entries(webhook?.headers ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join("\n"),
    service_id_regex: pattern?.service_id_regex ?? "",
    metric_name_regex: pattern?.metric_name_regex ?? "",
    min_anomaly_score: String(pattern?.min_anomaly_score ?? ""),
    environments: (pattern?.environments ?? []).join(", "),
    root_cause_category: pattern?.root_cause_category ?? "",
    secret: webhook?.secret ?? "",
    max_attempts: String(webhook?.retry.max_attempts ?? ""),
    transform: transform?.type ?? "",
    program: transform?.expression ?? transform?.code ?? "",
    enabled: String(webhook?.enabled ?? true),
  };
}

/** The body, or what is wrong with a field. Empty fields are left out: they mean what the API says without them. What has no field stays as it was `before`. */
export function webhookBody(fields: WebhookFields, before?: ShownWebhook): { readonly body: unknown } | { readonly fault: string } {
  const text = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value.trim()])) as unknown as WebhookFields;
  if (text.name === "" || text.url === "") return { fault: "name and address are needed" };
  const headers = headersOf(text.headers);
  if (headers === undefined) return { fault: "headers: write Name=value, one a line" };
  for (const [name, label] of [["min_anomaly_score", "score"], ["max_attempts", "attempts"]] as const) // biome-ignore format: one row
    if (!Number.isFinite(Number(text[name]))) return { fault: `${label}: a number is wanted` };
  if (text.transform !== "" && text.program === "") return { fault: "the program is missing" };
  const environments = text.environments.split(",").map((part) => part.trim()).filter((part) => part !== ""); // biome-ignore format: one row
  const pattern = {
    ...(text.service_id_regex !== "" && { service_id_regex: text.service_id_regex }),
    ...(text.metric_name_regex !== "" && { metric_name_regex: text.metric_name_regex }),
    ...(text.min_anomaly_score !== "" && { min_anomaly_score: Number(text.min_anomaly_score) }),
    ...(environments.length > 0 && { environments }),
    ...(text.root_cause_category !== "" && { root_cause_category: text.root_cause_category }),
  };
  const retry = { ...before?.retry, ...(text.max_attempts !== "" && { max_attempts: Number(text.max_attempts) }) };
  const program = text.transform === "jq" ? { expression: fields.program } : { code: fields.program };
  return {
    body: {
      name: text.name,
      url: text.url,
      headers,
      pattern,
      ...(text.transform !== "" && { transform: { type: text.transform, ...program } }),
      retry,
      ...(before !== undefined && { method: before.method }),
      ...(text.secret !== "" && { secret: text.secret }),
      enabled: text.enabled === "true",
    },
  };
}

function headersOf(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf("=");
    if (at < 1) return undefined;
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return headers;
}

/** Which events reach it, in a line. */
export function patternText(pattern: EventPattern): string {
  const { service_id_regex, metric_name_regex, min_anomaly_score, root_cause_category, environments } = pattern;
  const parts = [
    service_id_regex !== null && `service =~ ${service_id_regex}`,
    metric_name_regex !== null && `metric =~ ${metric_name_regex}`,
    min_anomaly_score !== null && `score > ${min_anomaly_score}`,
    root_cause_category !== null && `cause = ${root_cause_category}`,
    environments !== null && `environment in ${environments.join(", ")}`,
  ];
  return parts.filter((part) => part !== false).join(", ") || "all events";
}
