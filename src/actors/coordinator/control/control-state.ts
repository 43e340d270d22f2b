// What people have configured: books held in memory, each read from its table at the start and changed after the commit of a change.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import type { AccessChange } from "../../../core/protocol/access.ts";
import type { CoordinatorCounters } from "../coordinator-counters.ts";
import { FireBook } from "../watchdog/saturation/fire-book.ts";
import { AuditBook } from "./audit-book.ts";
import { InhibitionBook } from "./inhibition-book.ts";
import { KeyBook } from "./key-book.ts";
import { LabelBook } from "./label-book.ts";
import { LimitBook } from "./limit-book.ts";
import { ServiceMapBook } from "./service-map-book.ts";
import { SilenceBook } from "./silence-book.ts";
import { TenantBook } from "./tenant-book.ts";
import { UserBook } from "./user-book.ts";
import { WatchdogBook, type WatchdogEnvironment } from "./watchdog-book.ts";

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
  readonly labels = new LabelBook();
  readonly saturation = new LimitBook();
  readonly silences = new SilenceBook();
  readonly inhibitions = new InhibitionBook();
  readonly fires = new FireBook();
  readonly serviceMap = new ServiceMapBook();
  readonly watchdog: WatchdogBook;
  readonly #books: readonly ControlBook[];

  constructor(watchdog: WatchdogEnvironment) {
    this.watchdog = new WatchdogBook(watchdog);
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
    ];
  }

  /** Reads all books. */
  load(store: KeyValueStore): void {
    for (const book of this.#books) book.load(store);
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
    counters.set("watchdogPlaces", this.watchdog.table.size);
  }
}
