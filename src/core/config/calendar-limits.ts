// Bounds of a tenant's calendar of known days.

/** Days of a tenant: a year of dates, and as many again that come back each year; 40 bytes each in every engine, some 30 KB. */
export const KNOWN_DAYS_PER_TENANT_MAX = 732;
/** UTF-8 bytes of a day's name. */
export const KNOWN_DAY_NAME_BYTES_MAX = 128;
/** Body of all known days of a tenant, 350 bytes each. */
export const CALENDAR_BODY_BYTES_MAX = 256 * 1024;
