// Bounds of root-cause analysis.

/** Incidents that are looked at, of all tenants: 1,000 of 20 KiB at most, 20 MB. What comes beyond them waits. */
export const RUNNING_INCIDENTS_MAX = 1_000;
/** Incidents of a tenant that wait for their first look, at 50 ms each: 1.6 s of them. What comes beyond them waits for room. */
export const PENDING_INCIDENTS_PER_TENANT_MAX = 32;
/** Anomalies of a tenant that wait for room to begin an incident, in 300 bytes each: 13 s of first looks. Beyond, and after 15 minutes, one has no analysis, rather than another's. */
export const WAITING_ANOMALIES_PER_TENANT_MAX = 256;
/** Anomalies and services of an incident that its report names; further anomalies have a row each, by which the report is found. */
export const INCIDENT_MEMBERS_PER_INCIDENT_MAX = 200;
/** Anomalies beyond those, of one incident: a storm of as many pairs. 100 B each in memory and stored; more are counted. */
export const JOINED_MEMBERS_PER_INCIDENT_MAX = 10_000;
/** The same of a tenant, 2 MB; those of the oldest reports go. */
export const JOINED_MEMBERS_PER_TENANT_MAX = 20_000;
/** Number of rows of one commit, among them. */
export const JOINED_MEMBERS_PER_COMMIT_MAX = 1_000;
/** Reports of a tenant in memory by place; 400 bytes each. The oldest go. */
export const REPORTS_PER_TENANT_MAX = 20_000;
/** Incidents of a tenant that are remembered for their likeness: 40 bytes each to search, 300 to store. The oldest without a resolution go first. */
export const REMEMBERED_INCIDENTS_PER_TENANT_MAX = 100_000;
/** Changes of a tenant that are remembered; those of half an hour count. */
export const CHANGES_PER_TENANT_MAX = 200;
/** Streams of a tenant up to which all of them are looked at; beyond, those of services that calls join with the incident. */
export const EVIDENCE_STREAMS_PER_TENANT_MAX = 20_000;
/** Services that are looked at then. */
export const EVIDENCE_SERVICES_PER_INCIDENT_MAX = 500;
/** Edges of calls that an analysis reads. */
export const EVIDENCE_EDGES_PER_INCIDENT_MAX = 20_000;
/** Operations of one engine whose self times of the last twenty minutes are kept: 20,000 x 900 B. Beyond, spans of further ones have none. */
export const TIMED_OPERATIONS_MAX = 20_000;
/** Questions that wait for evidence beside the incidents, of all tenants, and those sure for each: each takes 10 to 200 ms. */
export const EVIDENCE_QUESTIONS_MAX = 16;
export const EVIDENCE_QUESTIONS_SHARE = 2;
/** Summaries that a language model words at once, of all tenants; more are worded by rule. */
export const SUMMARIES_WORDED_AT_ONCE_MAX = 4;
/** Timeout for the worded summary of an analysis that somebody waits for: less than the 5 s that a query has. */
export const SUMMARY_MS_MAX = 3_000;
/** Characters of a summary that a model has worded, and bytes of its answer. */
export const SUMMARY_CHARACTERS_MAX = 1_000;
export const SUMMARY_ANSWER_BYTES_MAX = 64 * 1024;
/** Characters of a resolution. */
export const RESOLUTION_CHARACTERS_MAX = 4_000;
/** Tags of a resolution. */
export const RESOLUTION_TAGS_PER_RECORD_MAX = 32;
/** Body of a resolution: its text and 32 tags of 1 KiB, escaped. */
export const RESOLUTION_BODY_BYTES_MAX = 64 * 1024;
/** Alerts of one request of an Alertmanager. */
export const WEBHOOK_ALERTS_PER_REQUEST_MAX = 2_000;
/** Bytes of such a request: 4 KiB an alert. */
export const ALERT_WEBHOOK_BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Alerts of one transaction, at 0.2 to 0.8 ms each: others' transactions, and queries that wait for one, wait 8 ms for it, and not for the rest of the request. */
export const WEBHOOK_ALERTS_PER_COMMIT_MAX = 10;
/**
 * Requests with alerts in a second, of a tenant, and of one address at ALERTS_PORT. An Alertmanager sends one for each group that has changed, at most every
 * group_interval (5 min): 50 a second are 15,000 groups. Beyond, 503, after which it sends them again; it would not after 429.
 */
export const ALERT_REQUESTS_PER_SECOND_MAX = 50;
export const ALERT_REQUESTS_PER_ADDRESS_MAX = 25;
/** Addresses whose requests are counted: 200 B each. Those that rest are forgotten first. */
export const ALERT_ADDRESSES_MAX = 10_000;
