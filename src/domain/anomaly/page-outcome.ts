/**
 * What became of a finding. `paged`: people are told. `absorbed`: it belongs to an alert that has paged. `suppressed`: a gate held it back. `logged`: a low
 * tier, which never pages (rule 1.1.6). `resolved`: the last open anomaly of the alert has ended.
 */
export type PageOutcome = "paged" | "absorbed" | "suppressed" | "logged" | "resolved";
