// What people have configured: books held in memory, each read from its table at the start and changed after the commit of a change.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import type { CoordinatorSharedLimit } from "../../../core/layout/counters.ts";
import type { AccessChange } from "../../../core/protocol/access.ts";
import { PatternCache } from "../../../domain/alerting/pattern/pattern-cache.ts";
import { AuditBook } from "../access/audit-book.ts";
import { KeyBook } from "../access/key-book.ts";
import { TenantBook } from "../access/tenant-book.ts";
import { UserBook } from "../access/user-book.ts";
import { LabelBook } from "../labels/label-book.ts";
import { TrainingJobBook } from "../models/job-book.ts";
import { ModelBook } from "../models/model-book.ts";
import { RoutingBook, type RoutingSettings } from "../notification/routing-book.ts";
import { ServiceMapBook } from "../pillars/service-map-book.ts";
import { RunbookBook } from "../runbooks/runbook-book.ts";
import { FireBook } from "../saturation/fire-book.ts";
import { LimitBook } from "../saturation/limit-book.ts";
import { InhibitionBook } from "../silences/inhibition-book.ts";
import { admitStored } from "../silences/pattern-room.ts";
import { SilenceBook } from "../silences/silence-book.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { CoordinatorShares } from "../state/coordinator-shares.ts";
import { WatchdogBook, type WatchdogEnvironment } from "../watchdog/watchdog-book.ts";
import { WebhookBook } from "../webhooks/webhook-book.ts";

/** A book of one noun. */
interface ControlBook {
  /** Reads what is stored. */
  load(store: KeyValueStore): void;
}

/** The configuration of one server. */
export class ControlState {
  readonly keys = new KeyBook();
  readonly users = new UserBook();
  readonly tenants = new TenantBook();
  readonly audit = new AuditBook();
  readonly labels: LabelBook;
  readonly saturation: LimitBook;
  readonly patterns = new PatternCache();
  readonly silences: SilenceBook;
  readonly inhibitions: InhibitionBook;
  readonly fires = new FireBook();
  readonly serviceMap: ServiceMapBook;
  readonly watchdog: WatchdogBook;
  readonly routing: RoutingBook;
  readonly webhooks: WebhookBook;
  readonly runbooks: RunbookBook;
  readonly trainings: TrainingJobBook;
  readonly models: ModelBook;
  readonly #books: readonly ControlBook[];

  constructor(watchdog: WatchdogEnvironment, shares: CoordinatorShares, routing?: RoutingSettings) {
    const of = (limit: CoordinatorSharedLimit) => shares.ledger(limit);
    this.labels = new LabelBook({ rows: of("labels"), bytes: of("label_bytes") });
    this.saturation = new LimitBook(of("saturation_limits"));
    this.silences = new SilenceBook(this.patterns, of("silences"));
    this.inhibitions = new InhibitionBook(this.patterns, of("inhibitions"));
    this.serviceMap = new ServiceMapBook(of("mapped_services"), of("pillar_values"));
    this.watchdog = new WatchdogBook(watchdog, of("watchdog_places"));
    this.routing = new RoutingBook(routing, of("routing_rules"));
    this.webhooks = new WebhookBook(of("webhooks"));
    this.runbooks = new RunbookBook(this.patterns, of("runbooks"));
    this.trainings = new TrainingJobBook(of("training_jobs"));
    this.models = new ModelBook(of("requested_models"), of("shadow_models"));
    this.#books = [
      this.tenants,
      this.keys,
      this.users,
      this.audit,
      this.labels,
      this.saturation,
      this.silences,
      this.inhibitions,
      this.fires,
      this.serviceMap,
      this.watchdog,
      this.routing,
      this.webhooks,
      this.runbooks,
      this.trainings,
      this.models,
    ];
  }

  /** Reads all books. Returns lines for the log on what cannot be in force any more. */
  load(store: KeyValueStore, nowMs: number): string[] {
    for (const book of this.#books) book.load(store);
    return admitStored(this, nowMs);
  }

  /** Everything that the front has to know, as changes from nothing. */
  accessChanges(): AccessChange[] {
    return [...this.tenants.accessChanges(), ...this.keys.accessChanges(), ...this.users.accessChanges()];
  }

  /** Tells how much there is. */
  count(counters: CoordinatorCounters): void {
    counters.set("auditRows", this.audit.size);
    counters.set("serviceLabels", this.labels.size);
    counters.set("silences", this.silences.size);
    counters.set("inhibitions", this.inhibitions.size);
    counters.set("saturationLimits", this.saturation.limits.size);
    counters.set("runbooks", this.runbooks.size);
    counters.set("watchdogPlaces", this.watchdog.table.size);
    counters.set("requestedModels", this.models.shares.taken);
    counters.set("shadowModels", this.models.shadowShares.taken);
  }
}
