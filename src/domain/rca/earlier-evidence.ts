// Evidence over several looks at one incident: a ring forgets what was before the onset, so the largest departure that was seen of a series stays.
import { getOrMake } from "../../core/collections/get-or-make.ts";
import type { SeriesEvidence } from "./evidence.ts";

/**
 * Evidence of series with that of the looks before, where it is larger or no other is to be had. The first look, for which somebody waits, costs nothing, and one that
 * finds no series neither.
 */
export function withEarlier(earlier: readonly SeriesEvidence[], fresh: readonly SeriesEvidence[]): readonly SeriesEvidence[] {
  if (earlier.length === 0) return fresh;
  if (fresh.length === 0) return earlier;
  const largest = new LargestSeries();
  largest.take(earlier);
  largest.take(fresh);
  return largest.series;
}

/** Numbers of one service's series by metric: of those without instance and peer by its name, of the others by all three in one text. */
interface ServiceNumbers {
  readonly plain: Map<string, number>;
  readonly split: Map<string, number>;
}

/** Series of several looks, each once. Those of one name are told apart by their number within a look. */
class LargestSeries {
  readonly series: SeriesEvidence[] = [];
  readonly #services = new Map<string, ServiceNumbers>();
  /** The second and further ones of a name, by the number of the first and their number. */
  readonly #repeats = new Map<string, number>();
  /** By number of a name's first: the last look with the name, and how many of it that look has had. */
  readonly #looks: number[] = [];
  readonly #counts: number[] = [];
  #takes = 0;

  take(looked: readonly SeriesEvidence[]): void {
    this.#takes++;
    let serviceId: string | undefined;
    let numbers: ServiceNumbers | undefined;
    for (const one of looked) {
      if (numbers === undefined || one.serviceId !== serviceId) {
        serviceId = one.serviceId;
        numbers = this.#numbersOf(serviceId);
      }
      this.#takeOne(one, numbers);
    }
  }

  #takeOne(one: SeriesEvidence, { plain, split }: ServiceNumbers): void {
    const isPlain = one.instance === null && one.peer === null;
    const next = () => this.series.length;
    const first = isPlain ? getOrMake(plain, one.metricName, next) : getOrMake(split, splitName(one), next);
    const serial = this.#looks[first] === this.#takes ? this.#counts[first]! : 0;
    const number = serial === 0 ? first : getOrMake(this.#repeats, `${first} ${serial}`, next);
    const known = this.series[number];
    if (known === undefined || known.departure.novelty < one.departure.novelty) this.series[number] = one;
    this.#looks[number] ??= 0;
    this.#counts[number] ??= 0;
    this.#looks[first] = this.#takes;
    this.#counts[first] = serial + 1;
  }

  #numbersOf(serviceId: string): ServiceNumbers {
    return getOrMake(this.#services, serviceId, () => ({ plain: new Map<string, number>(), split: new Map<string, number>() }));
  }
}

/** Lengths first, so that no two names read alike. */
function splitName({ metricName, instance, peer }: SeriesEvidence): string {
  return `${metricName.length} ${instance === null ? "" : instance.length} ${peer === null ? "" : "of"} ${metricName}${instance}${peer}`;
}
