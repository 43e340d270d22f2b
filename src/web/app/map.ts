// All pages: their place in the address, their name, and where they stand in the navigation. A page's script is fetched with the first look at it, those that lists lead to before.
import type { FunctionComponent } from "preact";
import type { IconName } from "../state/icons.tsx";

type PageComponent = FunctionComponent<{ readonly rest: readonly string[] }>;

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** Absent: reached from other pages. */
  readonly group?: Group;
  load(): Promise<PageComponent>;
}

export const GROUPS = ["Watch", "Explain", "Tune", "Notify", "Server"] as const;
type Group = (typeof GROUPS)[number];

const resource = (name: string) => async (): Promise<PageComponent> => (await import("../pages/resources.tsx")).resourcePage(name);

export const PAGES: readonly PageEntry[] = [
  { path: "now", title: "Overview", icon: "pulse", group: "Watch", load: async () => (await import("../pages/now.tsx")).Now },
  { path: "anomalies", title: "Anomalies", icon: "list", group: "Watch", load: async () => (await import("../pages/feed.tsx")).Feed },
  { path: "anomaly", title: "Anomaly", icon: "list", load: async () => (await import("../pages/anomaly.tsx")).AnomalyPage },
  { path: "alerts", title: "Alerts", icon: "bell", group: "Watch", load: async () => (await import("../pages/alerts.tsx")).Alerts },
  { path: "alert", title: "Alert", icon: "bell", load: async () => (await import("../pages/alert.tsx")).AlertPage },
  { path: "services", title: "Services", icon: "box", group: "Watch", load: async () => (await import("../pages/services.tsx")).Services },
  { path: "service", title: "Service", icon: "box", load: async () => (await import("../pages/service.tsx")).ServicePage },
  {
    path: "saturation",
    title: "Capacity",
    icon: "gauge",
    group: "Watch",
    load: async () => (await import("../pages/saturation.tsx")).Saturation,
  },
  { path: "graph", title: "Service map", icon: "share", group: "Explain", load: async () => (await import("../pages/graph.tsx")).Graph },
  {
    path: "analysis",
    title: "Root causes",
    icon: "target",
    group: "Explain",
    load: async () => (await import("../pages/analysis.tsx")).Analysis,
  },
  {
    path: "ledger",
    title: "Alert decision log",
    icon: "history",
    group: "Explain",
    load: async () => (await import("../pages/ledger.tsx")).Ledger,
  },
  {
    path: "forecast",
    title: "Forecast",
    icon: "trend",
    group: "Explain",
    load: async () => (await import("../pages/forecast.tsx")).Forecast,
  },
  {
    path: "records",
    title: "Logs, traces and events",
    icon: "book",
    group: "Explain",
    load: async () => (await import("../pages/records.tsx")).Records,
  },
  {
    path: "settings",
    title: "Detection settings",
    icon: "settings",
    group: "Tune",
    load: async () => (await import("../pages/settings.tsx")).Settings,
  },
  { path: "rules", title: "Rules", icon: "flag", group: "Tune", load: async () => (await import("../pages/rule-groups.tsx")).Rules },
  { path: "silences", title: "Silences", icon: "mute", group: "Tune", load: async () => (await import("../pages/silences.tsx")).Silences },
  { path: "inhibitions", title: "Inhibitions", icon: "mute", group: "Tune", load: resource("inhibitions") },
  {
    path: "pillars",
    title: "Business view",
    icon: "layers",
    group: "Tune",
    load: async () => (await import("../pages/pillars.tsx")).Pillars,
  },
  {
    path: "labels",
    title: "Labels and catalog",
    icon: "tag",
    group: "Tune",
    load: async () => (await import("../pages/labels.tsx")).Labels,
  },
  {
    path: "dead-letters",
    title: "Rejected telemetry",
    icon: "inbox",
    group: "Tune",
    load: async () => (await import("../pages/dead-letters.tsx")).DeadLetters,
  },
  { path: "models", title: "Models", icon: "cpu", group: "Tune", load: async () => (await import("../pages/models.tsx")).Models },
  { path: "routing", title: "Routing", icon: "route", group: "Notify", load: async () => (await import("../pages/routing.tsx")).Routing },
  {
    path: "webhooks",
    title: "Webhooks",
    icon: "send",
    group: "Notify",
    load: async () => (await import("../pages/webhooks.tsx")).Webhooks,
  },
  {
    path: "runbooks",
    title: "Runbooks",
    icon: "book",
    group: "Notify",
    load: async () => (await import("../pages/runbooks.tsx")).Runbooks,
  },
  {
    path: "pages",
    title: "Paging report",
    icon: "bell",
    group: "Notify",
    load: async () => (await import("../pages/page-report.tsx")).PageReport,
  },
  { path: "send", title: "Send telemetry", icon: "send", group: "Server", load: async () => (await import("../pages/send.tsx")).Send },
  {
    path: "backup",
    title: "Backup and configuration",
    icon: "copy",
    group: "Server",
    load: async () => (await import("../pages/backup.tsx")).Backup,
  },
  { path: "system", title: "System", icon: "server", group: "Server", load: async () => (await import("../pages/system.tsx")).System },
  { path: "keys", title: "API keys", icon: "key", group: "Server", load: resource("keys") },
  { path: "users", title: "Users", icon: "users", group: "Server", load: resource("users") },
  { path: "tenants", title: "Tenants", icon: "users", group: "Server", load: resource("tenants") },
  { path: "audit", title: "Audit log", icon: "history", group: "Server", load: resource("audit") },
  { path: "billing", title: "Usage", icon: "card", group: "Server", load: resource("billing") },
];

/** The page of a path's first segment; the first page where there is none. */
export function pageOf(path: readonly string[]): PageEntry | undefined {
  return PAGES.find((page) => page.path === (path[0] ?? "now"));
}

/** Fetches the scripts of the pages that lists lead to, so that a click waits for its data alone; one that does not come is asked again by the page. */
export function fetchDetailPages(): void {
  for (const page of PAGES) if (page.group === undefined) page.load().catch(() => undefined);
}
