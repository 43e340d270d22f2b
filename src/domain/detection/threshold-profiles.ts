// Which threshold each profile of the shard kernel stands for. Numbers are given out by the coordinator, so that all engines agree on them: the kernel has
// one set of threshold tables a profile, and a stream's record says by which it is judged.
import { PROFILE_ENVIRONMENT, PROFILE_EXCLUDED } from "../../core/layout/stream-record.ts";
import type { ThresholdProfile, WatchdogSettings } from "./watchdog-settings.ts";

/** Thresholds besides the environment's that may be in use at once. */
export const THRESHOLDS_MAX = PROFILE_EXCLUDED - PROFILE_ENVIRONMENT - 1;

export class ThresholdProfiles {
  readonly #initial: number;
  readonly #profiles = new Map<number, number>();

  /** `initial` is the environment's threshold. */
  constructor(initial: number) {
    this.#initial = initial;
  }

  /** Those of settings. */
  get all(): ThresholdProfile[] {
    return [...this.#profiles].map(([threshold, profile]) => ({ profile, threshold }));
  }

  /** The profile of settings; the environment's where their threshold has none. */
  profileOf({ excluded, zThreshold }: Pick<WatchdogSettings, "excluded" | "zThreshold">): number {
    return excluded ? PROFILE_EXCLUDED : (this.#profiles.get(zThreshold) ?? PROFILE_ENVIRONMENT);
  }

  /** The threshold of a profile; the environment's for its own and for that by which nothing is judged. */
  thresholdOf(profile: number): number {
    for (const [threshold, of] of this.#profiles) if (of === profile) return threshold;
    return this.#initial;
  }

  /** Whether so many thresholds, the environment's and repeated ones among them, can be in use at once. */
  fit(thresholds: Iterable<number>): boolean {
    const distinct = new Set(thresholds);
    distinct.delete(this.#initial);
    return distinct.size <= THRESHOLDS_MAX;
  }

  /**
   * Gives each threshold a profile and frees those of thresholds that are not among them; answers what is new. A number that this change has freed is
   * given out anew only where all others are taken.
   */
  use(thresholds: Iterable<number>): ThresholdProfile[] {
    const wanted = new Set(thresholds);
    wanted.delete(this.#initial);
    const taken = new Set(this.#profiles.values());
    for (const threshold of [...this.#profiles.keys()]) if (!wanted.has(threshold)) this.#profiles.delete(threshold);
    const added: ThresholdProfile[] = [];
    for (const threshold of wanted) {
      if (this.#profiles.has(threshold)) continue;
      const profile = this.#free(taken) ?? this.#free(new Set(this.#profiles.values()));
      if (profile === undefined) throw new RangeError(`more than ${THRESHOLDS_MAX} thresholds are in use at once`);
      this.#profiles.set(threshold, profile);
      taken.add(profile);
      added.push({ profile, threshold });
    }
    return added;
  }

  /** Takes over what another has given out. */
  take(profiles: readonly ThresholdProfile[]): void {
    this.#profiles.clear();
    for (const { profile, threshold } of profiles) this.#profiles.set(threshold, profile);
  }

  #free(taken: ReadonlySet<number>): number | undefined {
    for (let profile = PROFILE_ENVIRONMENT + 1; profile < PROFILE_EXCLUDED; profile++) if (!taken.has(profile)) return profile;
    return undefined;
  }
}
