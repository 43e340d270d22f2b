// What a rule that looks at services finds from cycle to cycle, as episodes: what it finds is opened, raised while it goes on, and closed once it is no longer
// found. Pure: whoever holds the set says what was taken in.
import { hash128 } from "../../../core/hashing/hash128.ts";
import type { EpisodeFrame, StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { RuleVerdict } from "../gates/rule-verdict.ts";

/** Where a rule finds something. */
export type RuleScope = Pick<RuleFinding, "tenant" | "environment" | "serviceId" | "metricName">;

/** A scope with what was said of it last. */
export type ReportedScope = RuleScope & Pick<RuleFinding, "observedAtMs">;

/** Finding of a rule in one cycle, at most once for each scope. */
export interface RuleFinding extends StreamName, Pick<EpisodeFrame, "direction" | "startedAtMs" | "observedAtMs" | "explanation"> {
  /** Reported again whenever its attributes change; else only where its z has grown. */
  readonly isRestated?: boolean;
  readonly verdict: RuleVerdict;
}

/** Finding that an open episode was reported with. */
export type ReportedFinding = Omit<RuleFinding, "verdict" | "isRestated"> & { readonly z: number; readonly verdict: unknown };

interface OpenEpisode {
  readonly id: string;
  readonly startedAtMs: number;
  readonly frame: Omit<EpisodeFrame, "transition">;
}

/** Fate of an episode that is not found again: it is over (close), it ends without a report (end), or nothing is known of it yet. */
export type EpisodeFate = "close" | "end" | "goes on";

/** Changes of one cycle; `apply` takes them over. */
export interface RuleChanges {
  readonly frames: readonly EpisodeFrame[];
  apply(): void;
}

/** The episodes of one detector. */
export class RuleEpisodeSet {
  readonly #detector: string;
  #open = new Map<string, OpenEpisode>();

  constructor(detector: string) {
    this.#detector = detector;
  }

  get openCount(): number {
    return this.#open.size;
  }

  isOpen(scope: RuleScope): boolean {
    return this.#open.has(keyOf(scope));
  }

  /** When the open episode of a place began. */
  startOf(scope: RuleScope): number | undefined {
    return this.#open.get(keyOf(scope))?.startedAtMs;
  }

  /** Takes an episode that is open already. */
  restore(reported: ReportedFinding): void {
    const { startedAtMs } = reported;
    const id = this.#idOf(reported, startedAtMs);
    this.#open.set(keyOf(reported), { id, startedAtMs, frame: { ...reported, episodeId: id, detector: this.#detector, arrivalMs: 0 } });
  }

  /** Changes of one cycle at this time. `fate` says what becomes of an episode that was not found again. */
  settle(findings: readonly RuleFinding[], nowMs: number, fate: (scope: ReportedScope) => EpisodeFate = () => "close"): RuleChanges {
    const after = new Map<string, OpenEpisode>();
    const frames: EpisodeFrame[] = [];
    for (const finding of findings) {
      const key = keyOf(finding);
      const before = this.#open.get(key);
      const episode = this.#episodeOf(finding, before);
      after.set(key, episode);
      if (before === undefined) frames.push({ ...episode.frame, transition: "open" });
      else if (episode.frame !== before.frame) frames.push({ ...episode.frame, transition: "update" });
    }
    for (const [key, episode] of this.#open) {
      if (after.has(key)) continue;
      const is = fate(episode.frame);
      if (is === "goes on") after.set(key, episode);
      else frames.push({ ...episode.frame, transition: is, observedAtMs: nowMs });
    }
    return {
      frames,
      apply: () => {
        this.#open = after;
      },
    };
  }

  #episodeOf(finding: RuleFinding, before: OpenEpisode | undefined): OpenEpisode {
    const startedAtMs = before?.startedAtMs ?? finding.startedAtMs;
    const id = before?.id ?? this.#idOf(finding, startedAtMs);
    const { tenant, environment, serviceId, metricName, attributes, direction, observedAtMs, verdict, explanation } = finding;
    const name = { tenant, environment, serviceId, metricName, attributes };
    const frame = { ...name, direction, startedAtMs, observedAtMs, z: verdict.z, verdict, explanation };
    const isChange = before === undefined || Math.abs(verdict.z) > Math.abs(before.frame.z) || isRestated(finding, before.frame);
    const reported = isChange ? { ...frame, episodeId: id, detector: this.#detector, arrivalMs: 0 } : before.frame;
    return { id, startedAtMs, frame: reported };
  }

  #idOf({ tenant, environment, serviceId, metricName }: RuleScope, startedAtMs: number): string {
    return hash128(JSON.stringify([this.#detector, tenant, environment, serviceId, metricName, startedAtMs]));
  }
}

function isRestated({ isRestated: mayBe, attributes }: RuleFinding, before: OpenEpisode["frame"]): boolean {
  return mayBe === true && JSON.stringify(attributes) !== JSON.stringify(before.attributes);
}

function keyOf({ tenant, environment, serviceId, metricName }: RuleScope): string {
  return JSON.stringify([tenant, environment, serviceId, metricName]);
}
