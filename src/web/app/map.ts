// All pages: their place in the address, their name, and where they stand in the navigation. A page's script is fetched with the first look at it.
import type { FunctionComponent } from "preact";
import type { IconName } from "../parts/icons.tsx";

type PageComponent = FunctionComponent<{ readonly rest: readonly string[] }>;

/** A page. */
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

export const PAGES: readonly PageEntry[] = [
  { path: "anomalies", title: "Anomalies", icon: "list", group: "Watch", load: async () => (await import("../pages/feed.tsx")).Feed },
];

/** The page of a path's first segment; the first page where there is none. */
export function pageOf(path: readonly string[]): PageEntry | undefined {
  return PAGES.find((page) => page.path === (path[0] ?? PAGES[0]?.path));
}
