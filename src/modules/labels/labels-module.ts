// What the coordinator folds of labels of services.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { importCatalog } from "./catalog-handler.ts";
import { LabelBook } from "./label-book.ts";
import { deleteLabel, listLabels, setLabel } from "./label-handlers.ts";
import type { LabelBooks } from "./labels-context.ts";

export const LABELS = {
  tables: {
    control: {
      service_labels: { key: "tenant, service, key, u16 source", value: "label-book.ts (control): a label of one source" },
    },
  },
  configured: ({ share }: BookSources) => ({ labels: new LabelBook({ rows: share("labels"), bytes: share("label_bytes") }) }),
  gauges: ({ configured }: { readonly configured: LabelBooks }) => ({ serviceLabels: configured.labels.size }),
  handlers: {
    setLabel,
    labels: listLabels,
    deleteLabel,
    importCatalog,
  },
} as const satisfies NounModule;
