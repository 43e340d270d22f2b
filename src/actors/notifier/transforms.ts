// Transforms in the notifier: the sandbox, the webhooks that want it, trials, and what is said about it.
import { Sandbox } from "../../adapters/sandbox/sandbox.ts";
import { SANDBOX_REPORT_MS, TRANSFORM_TRIAL_MS_MAX } from "../../core/config/sandbox-limits.ts";
import { after, task } from "../../core/faults/guard.ts";
import type { OutboundCommand, OutboundReport } from "../../domain/webhooks/outbound-messages.ts";
import type { TransformOutcome } from "../../domain/webhooks/transform.ts";

export interface TransformSettings {
  /** SANDBOX_PROCESSES. */
  readonly processes: number;
  /** TRANSFORM_PYTHON. */
  readonly allowsPythonUnfiltered: boolean;
}

type Trial = Extract<OutboundCommand, { type: "transform-trial" }>;

export interface TransformsDependencies {
  monotonicMs(): number;
  report(report: OutboundReport): void;
}

export class Transforms {
  readonly sandbox: Sandbox;
  readonly #dependencies: TransformsDependencies;
  /** Webhooks with a transform. */
  readonly #wanting = new Set<string>();
  #report: NodeJS.Timeout | undefined;

  constructor(settings: TransformSettings, dependencies: TransformsDependencies) {
    this.#dependencies = dependencies;
    this.sandbox = new Sandbox({ ...settings, changed: () => this.#changed() });
  }

  /** A webhook is there, or is gone. */
  aim(webhookId: string, hasTransform: boolean): void {
    const before = this.#wanting.size;
    if (hasTransform) this.#wanting.add(webhookId);
    else this.#wanting.delete(webhookId);
    const { size } = this.#wanting;
    if (before === 0 || size === 0) if (before !== size) this.sandbox.want(size > 0);
  }

  /** Runs a transform on events until a run fails for a reason that is none of the program's, overran, or took the time there is. */
  async try({ id, tenant, transform, events }: Trial): Promise<void> {
    const { monotonicMs, report } = this.#dependencies;
    const outcomes: TransformOutcome[] = [];
    const { kills } = this.sandbox.report.counts;
    const untilMs = monotonicMs() + TRANSFORM_TRIAL_MS_MAX;
    for (const event of events) {
      const outcome = await this.sandbox.transformEvent(tenant, transform, event);
      outcomes.push(outcome);
      const isOver = monotonicMs() > untilMs || this.sandbox.report.counts.kills > kills;
      if (isOver || (outcome.kind === "failed" && outcome.retry)) break;
    }
    report({ type: "transform-tried", id, outcomes, sandbox: this.sandbox.report });
  }

  close(): void {
    clearTimeout(this.#report);
    this.sandbox.close();
  }

  /** Told once for all that changes in a moment. */
  #changed(): void {
    this.#report ??= after(SANDBOX_REPORT_MS, task("the report on the sandbox"), () => {
      this.#report = undefined;
      this.#dependencies.report({ type: "sandbox", sandbox: this.sandbox.report });
    });
  }
}
