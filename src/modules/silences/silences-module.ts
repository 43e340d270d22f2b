// What the coordinator folds of silences and inhibitions.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { InhibitionBook } from "./inhibition-book.ts";
import { createInhibition, deleteInhibition, listInhibitions, oneInhibition } from "./inhibition-handlers.ts";
import type { PatternHolders } from "./pattern-capacity.ts";
import { SilenceBook } from "./silence-book.ts";
import { createSilence, deleteSilence, listSilences, oneSilence } from "./silence-handlers.ts";

export const SILENCES = {
  tables: {
    control: {
      silences: { key: "tenant, silence id", value: "Silence or maintenance window" },
      inhibitions: { key: "tenant, rule id", value: "inhibition rule" },
    },
  },
  configured: ({ share, patterns }: BookSources) => ({
    silences: new SilenceBook(patterns, share("silences")),
    inhibitions: new InhibitionBook(patterns, share("inhibitions")),
  }),
  gauges: ({ configured }: { readonly configured: PatternHolders }) => ({
    silences: configured.silences.size,
    inhibitions: configured.inhibitions.size,
  }),
  handlers: {
    createSilence,
    silences: listSilences,
    silence: oneSilence,
    deleteSilence,
    createInhibition,
    inhibitions: listInhibitions,
    inhibition: oneInhibition,
    deleteInhibition,
  },
} as const satisfies NounModule;
