// Writes that queries ask for. They wait for their turn between transactions, because a transaction works on counts as they were when it began.
import { StoreError } from "../../../adapters/storage/key-value-store.ts";

interface Edit {
  readonly run: () => Promise<void>;
  readonly refuse: (error: Error) => void;
}

/** Edits in the order in which they came; each belongs to a query, so there are at most QUERIES_WAITING_MAX. */
export class EditQueue {
  #edits: Edit[] = [];

  /** Resolves or rejects with what the work does once it has had its turn. */
  add<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#edits.push({ run: () => work().then(resolve, reject), refuse: reject });
    });
  }

  get isWaiting(): boolean {
    return this.#edits.length > 0;
  }

  /** Gives each its turn. */
  async run(): Promise<void> {
    const edits = this.#edits;
    this.#edits = [];
    for (const edit of edits) await edit.run();
  }

  /** The store takes no writes now. */
  refuse(): void {
    const edits = this.#edits;
    this.#edits = [];
    for (const edit of edits) edit.refuse(new StoreError("write", "READ_ONLY"));
  }
}
