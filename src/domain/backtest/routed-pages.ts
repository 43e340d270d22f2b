// Where the pages of two runs would have gone: by team and channel, with what is newly told and what no longer.
import { compareTexts } from "../../core/text/text-order.ts";
import type { PageDecision } from "../alerting/paging/page-decision.ts";
import type { PageDifference } from "./page-difference.ts";

/** Where a page goes. */
export interface PageRoute {
  /** Label `team` of its service; empty where it has none. */
  readonly team: string;
  /** As the rule names them. */
  readonly channels: readonly string[];
}

export interface RoutedPages {
  readonly team: string;
  readonly channel: string;
  readonly before: number;
  readonly after: number;
  readonly newly: number;
  readonly noLonger: number;
}

type Router = (page: PageDecision) => PageRoute;

/** A page that both runs have is newly told to channels that it goes to in the second alone. */
export function routedPages({ pagesBefore, pagesAfter, same }: PageDifference, before: Router, after: Router): RoutedPages[] {
  const rows = new Map<string, { -readonly [K in keyof RoutedPages]: RoutedPages[K] }>();
  const rowOf = (team: string, channel: string) => {
    const key = JSON.stringify([team, channel]);
    const row = rows.get(key) ?? { team, channel, before: 0, after: 0, newly: 0, noLonger: 0 };
    rows.set(key, row);
    return row;
  };
  const count = (pages: readonly PageDecision[], own: Router, other: Router, side: "before" | "after", alone: "newly" | "noLonger") => {
    for (const page of pages) {
      const { team, channels } = own(page);
      const twin = same.get(page);
      const others = twin === undefined ? [] : other(twin).channels;
      for (const channel of channels) {
        const row = rowOf(team, channel);
        row[side]++;
        if (!others.includes(channel)) row[alone]++;
      }
    }
  };
  count(pagesBefore, before, after, "before", "noLonger");
  count(pagesAfter, after, before, "after", "newly");
  return [...rows.values()].sort((a, b) => compareTexts(a.team, b.team) || compareTexts(a.channel, b.channel));
}
