// Maxima of what lists tell the user interface and other readers. None is a setting.

/** Names that entries of the index of anomalies share: 20,000 at 100 B are 2 MB; beyond they are shared anew. */
export const ANOMALY_NAMES_SHARED_MAX = 20_000;
/** Bars of a count over time: a screen has some 2,000 pixels, and a bar wants eight. */
export const COUNT_BUCKETS_MAX = 240;
/** Services of a tenant that are listed, each environment for itself: 200 B each, 20 MB at most. */
export const SERVICES_LISTED_MAX = 100_000;
/** Tenants whose list of services is remembered, and for how long: a list of 10,000 takes the engines 10 to 60 ms in slices. */
export const SERVICE_LISTS_RETAINED_MAX = 8;
export const SERVICE_LIST_MS_MAX = 5_000;
/** Streams of a service whose times a list of services looks at: of more every so many. */
export const SERVICE_STREAMS_LISTED_MAX = 256;
/** Nodes of a graph that are answered, and steps around its service. */
export const GRAPH_NODES_MAX = 500;
export const GRAPH_DEPTH_MAX = 6;
/** Points that a series is drawn from: each bucket gives its least and its greatest value, so that twice as many come. */
export const DRAWN_BUCKETS_MAX = 2_000;
/** Answers of JSON from this size on are compressed where the client takes gzip: below it a packet holds them. */
export const COMPRESSED_BYTES_MIN = 1_024;
/** An event's id: 15 digits of milliseconds, a dash, 9 digits. */
export const EVENT_ID_BYTES_MAX = 25;
/** Jobs and the server's state are compared so often where somebody reads the event stream, and else: some 10 us each time. */
export const UPDATES_MS = 1_000;
export const UPDATES_UNREAD_MS = 5_000;
/** Values of a series that are judged again for their bounds, 10 us each; older ones of a wide range have those of a plain window. */
export const SERIES_POINTS_JUDGED_MAX = 20_000;
/** Values before the first that is shown, from which the detectors' baselines are made again: a day of minutes. */
export const JUDGED_CONTEXT_VALUES = 1_440;
/** Series in one answer of values: a page of a service shows 24 charts; they share SERIES_POINTS_MAX points and SERIES_POINTS_JUDGED_MAX judgements. */
export const SERIES_TOGETHER_MAX = 24;
/** Anomalies that come with the values of a series: 300 B each. */
export const SERIES_ANOMALIES_MAX = 100;
/** Parts of the picture of an alert: it is 570 dots wide, and each gives two values at most. */
export const PICTURE_PARTS = 280;
/** Anomalies of an alert that are looked at for one with a series. */
export const DRAWN_MEMBERS_MAX = 50;
