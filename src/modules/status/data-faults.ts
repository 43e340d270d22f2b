// Faults of the data folder as the coordinator holds them: told by main, counted for /healthz, acknowledged by an operator.
import { errorCode } from "../../adapters/log/log-file-system.ts";
import { StoreError } from "../../adapters/storage/key-value-store.ts";
import type { DataFault, RetainedDataFault } from "../../core/protocol/data-fault.ts";
import type { SetAsideItem } from "../../core/protocol/set-aside.ts";
import { messageOf } from "../../core/text/error-text.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";

/** Where faults are kept; DataFaultFile is one. */
export interface FaultKeeper {
  readonly faults: readonly RetainedDataFault[];
  readonly open: number;
  /** Throws the system's error; the fault is in force all the same. */
  add(fault: DataFault, nowMs: number): boolean;
  /** Throws the system's error, and then nothing is acknowledged. */
  acknowledge(by: string, nowMs: number): number;
}

/** A keeper that forgets them with the process: what a coordinator without a folder has. */
const NO_FAULTS: FaultKeeper = { faults: [], open: 0, add: () => false, acknowledge: () => 0 };

/** Where bytes are kept that cannot be taken; SetAsideFolder is one. */
export interface SetAsideKeeper {
  /** Answers where they are; null where they could not be kept. */
  keep(item: SetAsideItem, nowMs: number): string | null;
}

export interface DataFaultsDependencies {
  /** Where faults are kept; nowhere where it is not given. */
  readonly faultKeeper?: FaultKeeper;
  /** Nothing is kept where it is not given. */
  readonly setAsideKeeper?: SetAsideKeeper;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  log(level: "warn" | "error", line: string): void;
}

/** Known faults of the data: damaged or missing. */
export class DataFaults {
  readonly #keeper: FaultKeeper;
  readonly #dependencies: DataFaultsDependencies;

  constructor(dependencies: DataFaultsDependencies) {
    this.#keeper = dependencies.faultKeeper ?? NO_FAULTS;
    this.#dependencies = dependencies;
    this.#report();
  }

  get faults(): readonly RetainedDataFault[] {
    return this.#keeper.faults;
  }

  /** Number of faults that nobody has acknowledged. */
  get open(): number {
    return this.#keeper.open;
  }

  /** Takes a fault over. */
  add(fault: DataFault): void {
    const { nowMs, log } = this.#dependencies;
    try {
      this.#keeper.add(fault, nowMs());
    } catch (error) {
      log("warn", `a fault of the data could not be noted for the next start: ${messageOf(error)}`);
    }
    this.#report();
  }

  /** Keeps what cannot be taken, and says so as a fault. */
  setAside(item: SetAsideItem): void {
    const { nowMs, setAsideKeeper, counters, log } = this.#dependencies;
    const path = setAsideKeeper?.keep(item, nowMs()) ?? null;
    const where = path === null ? "its bytes could not be kept" : `its bytes are kept in ${path}`;
    const what = `${item.what}: ${item.reason}; it was set aside, ${where}`;
    log("warn", what);
    counters.add("setAside", 1);
    this.add({ id: `set aside ${item.name}`, kind: "set_aside", what });
  }

  /** Says that the stores are not looked through yet until `check`, which begins when `due` resolves, is at its end; what it rejects with is a fault. */
  async checkStores(check: (() => Promise<void>) | undefined, due: Promise<void>): Promise<void> {
    if (check === undefined) return;
    const { counters, log } = this.#dependencies;
    counters.set("storesUnchecked", 1);
    await due;
    try {
      await check();
    } catch (error) {
      const what = messageOf(error);
      log("error", what);
      this.add({ id: `store: ${what}`, kind: "store_damaged", what });
    } finally {
      counters.set("storesUnchecked", 0);
    }
  }

  /** Answers how many were open. Throws StoreError where that cannot be stored, and then they stay open. */
  acknowledge(by: string): number {
    try {
      return this.#keeper.acknowledge(by, this.#dependencies.nowMs());
    } catch (error) {
      throw new StoreError("store the acknowledgement", errorCode(error), error);
    } finally {
      this.#report();
    }
  }

  #report(): void {
    this.#dependencies.counters.set("dataFaults", this.open);
  }
}
