// Bounds of routing and of what is reported, each with its reason.
import { HOUR_MS, SECOND_MS } from "../time/durations.ts";

/** Services that an alert of one jump names: 1,000 of 100 B stand in its row; each has its own alert besides, which has closed into it. */
export const GROUP_SERVICES_PER_ALERT_MAX = 1_000;

/** Routing rules of a tenant, the catch-all not counted: asked one after another at each message, some 0.1 us each. */
export const ROUTING_RULES_MAX = 500;
/** Priorities of rules; the catch-all stands behind all of them. */
export const ROUTING_PRIORITY_MAX = 9_999;
export const ROUTING_CATCH_ALL_PRIORITY = 10_000;
/** Channels of one rule: each is a message of its own. */
export const CHANNELS_PER_RULE_MAX = 20;
/** Characters of a channel: an address has at most 254 (RFC 5321), a name 64. */
export const CHANNEL_CHARACTERS_MAX = 320;
/** Characters of a service pattern, and of all patterns of a tenant: against a name of 1 KiB they take 0.3 ms and 40 ms at worst. */
export const SERVICE_PATTERN_CHARACTERS_MAX = 256;
export const SERVICE_PATTERNS_CHARACTERS_MAX = 32_768;
/** Label matchers of one rule, and characters of its name. */
export const ROUTING_LABEL_MATCHERS_MAX = 16;
export const ROUTING_NAME_CHARACTERS_MAX = 200;
/** Page budgets of a tenant and of all, some 100 B each, and pages of a week that one may name. */
export const PAGE_BUDGETS_PER_TENANT_MAX = 1_000;
export const PAGE_BUDGETS_TOTAL_MAX = 20_000;
export const PAGES_PER_WEEK_MAX = 1_000_000;
/** Rows of a report on pages, and alerts of which it is made: some 20 us each. */
export const PAGE_REPORT_ROWS_MAX = 1_000;
/** Routing rules of all tenants, some 1 KB each. */
export const ROUTING_RULES_TOTAL_MAX = 20_000;
/** Messages in the notifier's hands, of all tenants and for one destination of a tenant: some 2 KB each; the rest waits in the store. */
export const MESSAGES_HANDED_MAX = 10_000;
export const MESSAGES_HANDED_PER_DESTINATION_MAX = 1_000;
/** Of those for one destination, messages of what does not fire: what fires finds a place however many ends wait. */
export const ENDS_HANDED_PER_DESTINATION_MAX = 500;
/** Deliveries handed over, and outcomes stored, in one step of the coordinator: some 10 ms. */
export const DELIVERIES_HANDED_PER_STEP = 200;
export const REPORTS_PER_COMMIT = 500;
/** Destinations that the notifier keeps a rate of; those that have been idle go first. */
export const TRACKED_DESTINATIONS_MAX = 20_000;
/** Waits before a notifier that ended is started again, doubled from the first to the last. */
export const NOTIFIER_RESTART_MS = SECOND_MS;
export const NOTIFIER_RESTART_MS_MAX = 60 * SECOND_MS;
/** A run of the notifier that was sound. */
export const NOTIFIER_SOUND_MS = 300 * SECOND_MS;
/**
 * The notifier is asked at this pace whether it is there. One that has missed so many in a row hangs and is replaced: 25 s, as long as a call that somebody waits for may
 * take; none of its turns takes a second. One that has never answered may still be reading its files on a busy machine: 60 s.
 */
export const NOTIFIER_PULSE_MS = 5 * SECOND_MS;
export const NOTIFIER_PULSES_MISSED_MAX = 5;
export const NOTIFIER_START_PULSES_MAX = 12;
/** Longest that a stop waits for the notifier, which waits 3 s for answers: then its thread is ended wherever it is. */
export const NOTIFIER_STOP_MS_MAX = 10 * SECOND_MS;
/** Longest attempt, twice as long as any whose receiver answers or whose timeouts (10 and 20 s) end it: its outcome is unknown then, and its queue goes on. */
export const ATTEMPT_MS_MAX = 60 * SECOND_MS;
/** Time for which a failed message is reported in the status. */
export const EXHAUSTED_REPORTED_MS = HOUR_MS;
/**
 * Requests that somebody waits for, of all tenants, and those sure for each; and how long one takes at most: two answers of 10 s and a start of the notifier. Tests
 * wait for their turn for 3 s, so that with an answer of 10 s they end before the query does.
 */
export const OUTBOUND_CALLS_MAX = 100;
export const OUTBOUND_CALLS_SHARE = 10;
export const OUTBOUND_WAIT_MS_MAX = 3 * SECOND_MS;
export const OUTBOUND_CALL_MS_MAX = 25 * SECOND_MS;
/** Time without success after which a channel fails and the server is degraded: longer than any pause between attempts of a receiver that restarts. */
export const CHANNEL_FAILING_MS = 300 * SECOND_MS;
/** Channels of one answer: some 200 B each. */
export const CHANNELS_LISTED_MAX = 1_000;
/** Named destinations of the environment, over all notifiers. */
export const DESTINATIONS_MAX = 1_000;

/** Waits between attempts: full jitter below a bound that doubles from the first to the last, until a message is a day old. */
export const RETRY_FIRST_MS = SECOND_MS;
export const RETRY_WAIT_MS_MAX = 300 * SECOND_MS;
export const RETRY_AGE_MS_MAX = 24 * HOUR_MS;

/** Messages that one of chat or email may join: one screen of a phone. */
export const JOINED_MESSAGES_MAX = 10;
/** Messages that may leave a destination at once before its rate holds. */
export const DESTINATION_BURST = 5;

/** Characters of a text in chat: Slack's bound of a section. */
export const CHAT_CHARACTERS_MAX = 3_000;
/** Of them its title, escaped, so that an address and what is so have room behind it. */
export const CHAT_TITLE_CHARACTERS_MAX = 500;
/** Characters of a summary of Events v2, of a message of the on-call dialect, and of its description. */
export const PAGER_SUMMARY_CHARACTERS_MAX = 1_024;
export const ONCALL_MESSAGE_CHARACTERS_MAX = 130;
export const ONCALL_DESCRIPTION_CHARACTERS_MAX = 15_000;
/** Bytes of an event for the pager: its own bound of 512 KB; beyond, the details are left out. */
export const PAGER_EVENT_BYTES_MAX = 512_000;
/** Characters of a subject: one line in any mail program (RFC 5322 asks for fewer than 998). */
export const EMAIL_SUBJECT_CHARACTERS_MAX = 200;

const ties: Array<[boolean, string]> = [
  [ROUTING_PRIORITY_MAX < ROUTING_CATCH_ALL_PRIORITY, "the catch-all is asked last"],
  [MESSAGES_HANDED_PER_DESTINATION_MAX < MESSAGES_HANDED_MAX, "one destination leaves room for others"],
  [ENDS_HANDED_PER_DESTINATION_MAX < MESSAGES_HANDED_PER_DESTINATION_MAX, "ends leave room for what fires"],
  [JOINED_MESSAGES_MAX <= ENDS_HANDED_PER_DESTINATION_MAX, "a mail is handed over whole"],
  [DELIVERIES_HANDED_PER_STEP <= MESSAGES_HANDED_PER_DESTINATION_MAX, "a step fits a destination"],
  [RETRY_FIRST_MS < RETRY_WAIT_MS_MAX && RETRY_WAIT_MS_MAX < RETRY_AGE_MS_MAX, "a message is tried more than once"],
];
for (const [holds, what] of ties) if (!holds) throw new Error(`notification-limits.ts: it must hold that ${what}`);
/** Body of a question to the routing rules: 16 labels with a name and a value of 1 KiB, escaped. */
export const ROUTING_QUESTION_BYTES_MAX = 64 * 1024;
/** Pictures of one mail, 2 to 6 kB each: what is joined beyond them has its link. */
export const CHARTS_PER_MESSAGE_MAX = 3;
/** Pictures that mails wait for at once, and how long: an answer takes some ten milliseconds, and a page must not be late for it. */
export const CHARTS_WANTED_MAX = 16;
export const CHART_WAIT_MS_MAX = 2_000;

/** Times that an alert's channels hear of another cause: an analysis that wavers between two says so a few times and no more. */
export const CAUSE_CHANGES_SENT_MAX = 5;
