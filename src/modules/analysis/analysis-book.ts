// What analysis keeps: reports, past incidents, changes.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { ChangeBook } from "./change-book.ts";
import { IncidentMemory } from "./incident-memory.ts";
import { ReportBook } from "./report-book.ts";

export class AnalysisBook {
  readonly reports: ReportBook;
  readonly memory: IncidentMemory;
  readonly changes = new ChangeBook();

  constructor(control: KeyValueStore) {
    this.reports = new ReportBook(control);
    this.memory = new IncidentMemory(control);
  }

  load(series: KeyValueStore, nowMs: number): void {
    this.reports.load();
    this.memory.load();
    this.changes.load(series, nowMs);
  }
}
