// What the event stream tells besides findings: jobs that begin, move on and end, and changes of the server's state. Compared once a second where somebody
// reads, and else neither made nor kept.
import type { JobEvent, StatusEvent } from "../../api/shapes/stream-events.ts";
import { UPDATES_MS, UPDATES_UNREAD_MS } from "../../core/config/interface-limits.ts";
import type { StreamEvents } from "../../core/protocol/query.ts";

/** A job as it is now, or as it has ended. */
export interface TenantJob {
  readonly tenant: string;
  readonly event: JobEvent;
}

export interface StreamUpdatesDependencies {
  /** Those that run, and those that have ended since the last look. */
  jobs(): readonly TenantJob[];
  /** One that has run; undefined where it is not known any more. */
  job(tenant: string, id: string): JobEvent | undefined;
  state(): StatusEvent;
  /** Absent: nobody is told. */
  hasSubscribers?(): boolean;
  publish(events: StreamEvents["events"]): void;
  monotonicMs(): number;
}

/** One server's news. */
export class StreamUpdates {
  readonly #dependencies: StreamUpdatesDependencies;
  readonly #running = new Map<string, { readonly tenant: string; readonly id: string; readonly text: string }>();
  #state = "";
  #dueMs = 0;

  constructor(dependencies: StreamUpdatesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Monotonic time of the next look. */
  step(): number {
    const { hasSubscribers, monotonicMs, publish } = this.#dependencies;
    if (hasSubscribers === undefined) return Number.POSITIVE_INFINITY;
    if (monotonicMs() < this.#dueMs) return this.#dueMs;
    const isRead = hasSubscribers();
    this.#dueMs = monotonicMs() + (isRead ? UPDATES_MS : UPDATES_UNREAD_MS);
    if (!isRead) this.#forget();
    else {
      const events = [...this.#jobUpdates(), ...this.#stateUpdates()];
      if (events.length > 0) publish(events);
    }
    return this.#dueMs;
  }

  /** Whoever reads next asks for the state and the jobs, and is told what comes behind that. */
  #forget(): void {
    this.#running.clear();
    this.#state = "";
  }

  *#jobUpdates(): Generator<StreamEvents["events"][number]> {
    const jobs = this.#dependencies.jobs();
    const keys = new Set(jobs.map(keyOf));
    for (const job of jobs) {
      const text = JSON.stringify(job.event);
      if (this.#running.get(keyOf(job))?.text === text) continue;
      this.#running.set(keyOf(job), { tenant: job.tenant, id: job.event.job_id, text });
      yield { event: "job", tenant: job.tenant, data: text };
    }
    for (const [key, { tenant, id, text }] of this.#running) {
      if (keys.has(key)) continue;
      this.#running.delete(key);
      const ended = JSON.stringify(this.#dependencies.job(tenant, id) ?? null);
      if (ended !== "null" && ended !== text) yield { event: "job", tenant, data: ended };
    }
  }

  *#stateUpdates(): Generator<StreamEvents["events"][number]> {
    const text = JSON.stringify(this.#dependencies.state());
    if (text === this.#state) return;
    this.#state = text;
    yield { event: "status", tenant: null, data: text };
  }
}

function keyOf({ tenant, event }: TenantJob): string {
  return `${event.job_id} ${tenant}`;
}
