// Places of a limit that all tenants share. Every tenant has a sure share, a sixteenth of the limit and at least 64 places; beyond it places are first come.
//
// So that "sure" is true, what others have not used of their shares is kept free: a tenant beyond its share takes a place only while more are free than that,
// or than half of the limit where shares would be more. Where all are taken, one that becomes free is therefore kept for a tenant below its share. Nothing that
// is held is ever taken away.
//
// What is sure: of tenants that were known before the limit filled, up to nine (one beyond its share, and eight sixteenths in the other half) always find a
// place within their shares; of more, half of the limit is for those below their shares, first come among them, and after it the next that becomes free. A
// tenant that is added once all is taken waits for one to become free. A server of one tenant has the whole limit for it.

/** A tenant's share of a limit is one part in so many. */
const SHARE_PARTS = 16;
/** And at least so many places, where half of the limit has them. */
const SHARE_MIN = 64;

/** Places that are sure for each tenant, where a limit does not say. */
export function shareOf(most: number): number {
  return Math.max(1, Math.min(Math.max(SHARE_MIN, Math.floor(most / SHARE_PARTS)), Math.floor(most / 2)));
}

/** A limit as it is used now. */
export interface LimitUsage {
  readonly most: number;
  /** Share by sharePlaces(). */
  readonly share: number;
  /** Tenants that are known, whether they hold any. */
  readonly tenants: number;
  /** Places in use. */
  readonly taken: number;
  /** Number of places within the shares of their tenants, among these. */
  readonly within: number;
}

/** Places that a tenant which holds so many may take now. */
export function availableFor(used: number, { most, share, tenants, taken, within }: LimitUsage): number {
  const free = Math.max(0, most - taken);
  const sure = Math.max(0, share - used);
  const unused = Math.max(0, tenants * share - within - sure);
  const retained = Math.min(Math.floor(most / 2), unused);
  return Math.max(Math.min(free, sure), free - retained);
}

/** A limit of which tenants have shares: its places, and those that are sure for each tenant where that is not as usual. */
export interface SharedLimit {
  readonly most: number;
  readonly share?: number;
}

export interface ShareLedgerOptions extends SharedLimit {
  /** Tenants that are known. */
  readonly tenants: () => number;
  /** Told of each refusal, for counters that name no tenant. */
  readonly refused?: (count: number) => void;
}

interface Account {
  used: number;
  refused: number;
}

/** Who holds how many places of one limit. One account a tenant that holds, or was refused, any. */
export class ShareLedger {
  readonly most: number;
  readonly share: number;
  readonly #tenants: () => number;
  readonly #report: (count: number) => void;
  readonly #accounts = new Map<string, Account>();
  #taken = 0;
  #within = 0;

  constructor({ most, share = shareOf(most), tenants, refused = () => undefined }: ShareLedgerOptions) {
    this.most = most;
    this.share = share;
    this.#tenants = tenants;
    this.#report = refused;
  }

  /** For one tenant, to whom all places are open; for what is built without others around it. */
  static alone(most = Number.MAX_SAFE_INTEGER): ShareLedger {
    return new ShareLedger({ most, tenants: () => 1 });
  }

  /** Places in use. */
  get taken(): number {
    return this.#taken;
  }

  /** The limit as it is used now. */
  get places(): LimitUsage {
    const { most, share } = this;
    return { most, share, tenants: this.#tenants(), taken: this.#taken, within: this.#within };
  }

  /** Tenants with an account. */
  get tenants(): Iterable<string> {
    return this.#accounts.keys();
  }

  used(tenant: string): number {
    return this.#accounts.get(tenant)?.used ?? 0;
  }

  /** Places that the tenant was refused, each as often as it was asked for. */
  refused(tenant: string): number {
    return this.#accounts.get(tenant)?.refused ?? 0;
  }

  /** Places that the tenant may take now. */
  available(tenant: string): number {
    return availableFor(this.used(tenant), this.places);
  }

  /** Returns whether there is room for so many places; counts a refusal where there is none. */
  admits(tenant: string, count = 1): boolean {
    const hasCapacity = this.available(tenant) >= count;
    if (!hasCapacity) this.refuse(tenant, count);
    return hasCapacity;
  }

  /** Takes places where there is room for all of them, else counts a refusal. */
  take(tenant: string, count = 1): boolean {
    const hasCapacity = this.admits(tenant, count);
    if (hasCapacity) this.add(tenant, count);
    return hasCapacity;
  }

  /** Counts what was refused. */
  refuse(tenant: string, count = 1): void {
    this.#account(tenant).refused += count;
    this.#report(count);
  }

  /** Enters what is held already, such as restored state: it stays, whether or not there is room. */
  add(tenant: string, count = 1): void {
    const account = this.#account(tenant);
    this.#within -= Math.min(account.used, this.share);
    account.used += count;
    this.#within += Math.min(account.used, this.share);
    this.#taken += count;
  }

  /** Gives places back. Throws where the tenant holds fewer. */
  give(tenant: string, count = 1): void {
    if (count > this.used(tenant)) throw new RangeError(`${count} places are given back of ${this.used(tenant)} that are held`);
    this.add(tenant, -count);
  }

  /** Gives back all that is held; refusals stay counted. */
  clear(): void {
    for (const account of this.#accounts.values()) account.used = 0;
    this.#taken = 0;
    this.#within = 0;
  }

  #account(tenant: string): Account {
    let account = this.#accounts.get(tenant);
    if (account === undefined) {
      account = { used: 0, refused: 0 };
      this.#accounts.set(tenant, account);
    }
    return account;
  }
}

/** Places that one transaction is about to take, over those that are held. What becomes of it is entered in the ledger by whoever commits it. */
export class ShareDraft {
  readonly #ledger: ShareLedger;
  readonly #added = new Map<string, number>();
  #taken = 0;
  #within = 0;

  constructor(ledger: ShareLedger) {
    this.#ledger = ledger;
  }

  /** Places that the tenant may take now. */
  available(tenant: string): number {
    const { places } = this.#ledger;
    return availableFor(this.#used(tenant), { ...places, taken: places.taken + this.#taken, within: places.within + this.#within });
  }

  /** Takes places where there is room for all of them, else counts a refusal in the ledger. */
  take(tenant: string, count = 1): boolean {
    if (this.available(tenant) >= count) {
      this.add(tenant, count);
      return true;
    }
    this.#ledger.refuse(tenant, count);
    return false;
  }

  /** Takes places, or gives as many back where `count` is below 0. */
  add(tenant: string, count: number): void {
    const { share } = this.#ledger;
    const before = this.#used(tenant);
    this.#within += Math.min(before + count, share) - Math.min(before, share);
    this.#taken += count;
    this.#added.set(tenant, (this.#added.get(tenant) ?? 0) + count);
  }

  /** Places that are about to be taken. */
  added(tenant: string): number {
    return this.#added.get(tenant) ?? 0;
  }

  #used(tenant: string): number {
    return this.#ledger.used(tenant) + (this.#added.get(tenant) ?? 0);
  }
}
