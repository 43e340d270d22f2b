// Maxima of what people declare of their services: labels, saturation limits, catalogs and the service map. None is a setting.
// Bounds of a tenant's calendar of known days.

/** Days of a tenant: a year of dates, and as many again that come back each year; 40 bytes each in every engine, some 30 KB. */
export const KNOWN_DAYS_PER_TENANT_MAX = 732;

/** UTF-8 bytes of a day's name. */
export const KNOWN_DAY_NAME_BYTES_MAX = 128;

/** Body of all known days of a tenant, 350 bytes each. */
export const CALENDAR_BODY_BYTES_MAX = 256 * 1024;

/** Characters of a label's key. */
export const LABEL_KEY_CHARACTERS_MAX = 128;
/** Labels of one service, one for each key and source. */
export const LABELS_PER_SERVICE_MAX = 64;
/** Labels of a tenant: 100,000 services with team and owner from two sources. Of all tenants, at about 250 B in memory each. */
export const LABELS_PER_TENANT_MAX = 400_000;
export const LABELS_MAX = 800_000;
/** UTF-8 bytes of their services, keys and values, over all tenants. */
export const LABEL_BYTES_MAX = 128 * 1024 * 1024;
/** Changes of one label by telemetry within an hour: senders that contradict each other change it no more often. */
export const LABEL_CHANGES_PER_HOUR_MAX = 4;
/** Services whose labels one engine remembers to have told, at 150 B: told again where more are seen. */
export const LABELS_REPORTED_MAX = 120_000;
/** Declared saturation limits of a tenant, and of all: 200 B each. */
export const SATURATION_LIMITS_PER_TENANT_MAX = 20_000;
export const SATURATION_LIMITS_MAX = 100_000;
/** UTF-8 bytes of a limit's service and metric together: its key holds both. */
export const SATURATION_NAMES_BYTES_MAX = 1_600;
/** Characters of a limit's unit. */
export const UNIT_CHARACTERS_MAX = 64;

/** Body of a catalog: 10,000 entities of 400 bytes. */
export const CATALOG_BODY_BYTES_MAX = 4 * 1024 * 1024;
export const CATALOG_ENTITIES_MAX = 10_000;
/** One YAML document: an API with its definition in it has some 200 KB, in a single token; components have some hundred tokens in 2 KB. */
export const CATALOG_DOCUMENT_CHARACTERS_MAX = 1024 * 1024;
export const CATALOG_TOKENS_MAX = 5_000;
export const CATALOG_DEPTH_MAX = 64;
export const CATALOG_ALIASES_MAX = 50;

/** Entries of one section of an imported configuration, each a change with a row of the audit log; and the bytes of its body: 800 an entry of the largest section. */
export const CONFIGURATION_ENTRIES_MAX = 10_000;
export const CONFIGURATION_BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Entries of an import that one transaction writes, 0.05 ms each with their rows of the audit log: 5 ms, and 10,000 need 100 flushes of the disk instead of as many as they are. */
export const CONFIGURATION_ENTRIES_PER_COMMIT = 100;

/** Entries of one PUT of the service map, and the bytes of its body: 800 an entry. */
export const SERVICE_MAP_ENTRIES_MAX = 10_000;
export const SERVICE_MAP_BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Rows of a page of the map and of scores, where none are asked for. */
export const SERVICE_MAP_PAGE_ROWS = 100;
/** Mapped services of a tenant and of all: about 0.5 KiB each in memory, and a place in every tick. */
export const SERVICE_MAP_TENANT_ENTRIES_MAX = 200_000;
export const SERVICE_MAP_ENTRIES_TOTAL_MAX = 500_000;
/** Custom keys of a service; bytes of their names; bytes of a tenant, product or custom value. With a tenant's name they fit a key of the store. */
export const CUSTOM_KEYS_MAX = 16;
export const CUSTOM_KEY_BYTES_MAX = 128;
export const PILLAR_VALUE_BYTES_MAX = 512;
