// Ids of tenants: they stand in keys, tokens, headers and log lines, so they are short and plain. Case counts.

/** Letters, digits and . _ - , the first one a letter or digit. */
export const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Requirements of an id, for messages. */
export const TENANT_ID_RULE = "must have 1 to 63 letters, digits, dots, underscores or hyphens, and begin with a letter or digit";
