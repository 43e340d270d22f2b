// Bounds of rules of Prometheus' kind, each with its reason: files and templates are text of operators, and must end neither the stack nor the memory of their thread.

/** Characters of a file of rules: the largest public ones, generated for Kubernetes, have 1,500,000. */
export const RULE_FILE_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Levels of a file of rules: tests of rules, the deepest, have nine; each takes some ten frames of the composer, and the stack has 10,000. */
export const RULE_FILE_DEPTH_MAX = 64;
/** Nodes of a file of rules once its aliases are followed: 4 MiB of the shortest lines, and no alias of aliases makes more. */
export const RULE_FILE_NODES_MAX = 1_000_000;
/** Actions and operands that one expansion of a template may evaluate: a table of 1,000 rows of 20 columns has 60,000. */
export const TEMPLATE_STEPS_MAX = 100_000;
/** Characters that an expansion may write: a message of 64 KiB is longer than any receiver shows. */
export const TEMPLATE_OUTPUT_CHARACTERS_MAX = 64 * 1024;
/** Levels of blocks, parentheses and templates within a template: some six frames each of the parser and of the expansion. */
export const TEMPLATE_DEPTH_MAX = 100;
/** Queries that one expansion of a template may ask: public rules ask two. */
export const TEMPLATE_QUERIES_MAX = 20;
/** Digits and columns that a verb of printf may ask for: a float has 1,075 digits at most. */
export const TEMPLATE_PRECISION_MAX = 1_100;
/** Evaluations of all rules that one test of rules may make: a year in steps of a minute are 525,600. */
export const RULE_TEST_EVALUATIONS_MAX = 1_000_000;
/** How long a resolved alert is remembered, so that it is sent on as resolved: Prometheus' own. */
export const RESOLVED_ALERT_RETENTION_MS = 15 * 60_000;
/** Rules of all tenants: 20,000 each minute are 330 queries a second, more than the query workers of any machine answer. */
export const RULES_MAX = 20_000;
/** Rules of one group: the largest public ones have 150, and a group is evaluated in one go. */
export const RULES_PER_GROUP_MAX = 1_000;
/** Files below RULES_DIR that are read: 500 teams with two files each. */
export const RULE_DIRECTORY_FILES_MAX = 1_000;
/** Bytes of all files below RULES_DIR: a hundred of the usual size for each of the files above, and what main holds of them for a moment. */
export const RULE_DIRECTORY_BYTES_MAX = 32 * 1024 * 1024;
/** Time between two reads of the names in RULES_DIR, as of the file of JWKS. */
export const RULE_DIRECTORY_INTERVAL_MS = 1_000;
/** How long the coordinator waits for a query worker that reads a file or evaluates a group. */
export const RULE_WORK_MS_MAX = 300_000;
/** Time of a group's evaluation, with what it waits for its turn: 24 rules that take as long as they may; those behind them have theirs at the next. */
export const RULE_GROUP_MS_MAX = 240_000;
/** Faults of a file that an answer or the log shows. */
export const RULE_PROBLEMS_SHOWN_MAX = 20;
/** How often a group is evaluated that says nothing of it: Prometheus' default. */
export const RULE_INTERVAL_MS = 60_000;
/** Groups that query workers evaluate at once or have waiting: a worker each, and as many behind them. */
export const RULE_EVALUATIONS_UNDER_WAY_MAX = 8;
/** Of these, those that are sure for each tenant with rules: groups that take long leave it a worker. */
export const RULE_EVALUATIONS_UNDER_WAY_SHARE = 2;
/** Time that one rule may take of a worker: a tenth of what Prometheus gives it, as others of the group wait behind it. */
export const RULE_QUERY_MS_MAX = 10_000;
/** A rule that takes too long again and again is tried with one evaluation of so many. */
export const RULE_LATE_INTERVALS_MAX = 8;
/** Alerts of one rule, whatever its group allows: each is a row of the store and a line on pages. */
export const RULE_ALERTS_MAX = 1_000;
/** Series of one recording rule, whatever its group allows: 200 bytes each to write them, 4 MB. */
export const RULE_SERIES_MAX = 20_000;
/** Times that a rule is evaluated again because its templates have asked for series that were not read yet: public rules ask in one level. */
export const RULE_TEMPLATE_READS_MAX = 4;
/** Queries that a worker keeps parsed: a thousand rules, with the queries of their templates; 2 kB each. */
export const RULE_QUERIES_PARSED_MAX = 4_000;
/** Groups that a worker keeps compiled. */
export const RULE_GROUPS_COMPILED_MAX = 1_000;
/** How often an alert that goes on firing is sent again: Prometheus' resend delay. */
export const RULE_RESEND_MS = 60_000;
/** Intervals, and of the resend delay as many, after which an alert is over that nobody sends any more: Prometheus' own. */
export const RULE_SILENT_INTERVALS = 4;
/** How often series of rules are sent again to an engine that is full, and the wait before. */
export const RULE_SAMPLE_TRIES_MAX = 5;
export const RULE_SAMPLE_RETRY_MS = 500;
/** How long an engine may take to answer: as long as a sender of ours would wait. */
export const RULE_SAMPLE_ANSWER_MS_MAX = 30_000;
/** How long a pause may be behind which `for` goes on: Prometheus' default. */
export const RULE_OUTAGE_TOLERANCE_MS = 3_600_000;
/** What is left of `for` behind a pause at least, and below which nothing goes on: Prometheus' default. */
export const RULE_FOR_GRACE_MS = 600_000;
/** Moments at which a trial evaluates a group: those of a range query, a week of minutes. */
export const RULE_TRIAL_STEPS_MAX = 11_000;
/** Values that the rules of a trial may answer: 100 bytes each while their rule is gone over. */
export const RULE_TRIAL_VALUES_MAX = 1_000_000;
/** Alerts that fire in a trial: each goes through the pipeline to a page, 50 us. */
export const RULE_TRIAL_ALERTS_MAX = 5_000;
/** Alerts that the answer of a trial shows. */
export const RULE_TRIAL_ALERTS_SHOWN_MAX = 100;
/** Time that a trial may take of a worker: as long as a backtest. */
export const RULE_TRIAL_MS_MAX = 60_000;
/** Timeout of a trial's answer: its own time, and that it waits for a worker and for the pipeline. */
export const RULE_TRIAL_ANSWER_MS_MAX = 90_000;
