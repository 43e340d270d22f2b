// Open episodes of detectors that judge in cycles, kept so that one whose engine has lost it (it was killed before it stored its state, or its stream
// left memory) is closed all the same. Those of the stream's own detector lie in checkpoints with their streams and are never lost.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { type EpisodeFrame, isClosing } from "../../core/protocol/coordinator-frame.ts";
import { alertFingerprint, DETECTOR_EXTERNAL } from "../../domain/anomaly/webhook-alert.ts";
import { DETECTOR_Z_SCORE } from "../../domain/detection/verdict.ts";
import { scan } from "../state/scan.ts";
import { STREAM_NAME_CHECKS } from "../state/shared-forms.ts";
import { number, oneOf, optional, StoredForm, text } from "../state/stored-json.ts";
import { idBytes } from "../state/tables.ts";

const TABLE = "standing_episodes";

/** Data needed to close an episode. */
export type OpenEpisode = Omit<EpisodeFrame, "transition" | "observedAtMs" | "z" | "verdict" | "explanation" | "arrivalMs" | "level">;

const EPISODE = new StoredForm<OpenEpisode>("standing_episodes", {
  ...STREAM_NAME_CHECKS,
  episodeId: text,
  fingerprint: optional(text),
  detector: text,
  direction: oneOf(["high", "low"]),
  startedAtMs: number,
});

/** By episode id; undefined where it has ended. */
export type OpenEpisodeChanges = ReadonlyMap<string, OpenEpisode | undefined>;

/** As committed. */
export class OpenEpisodes {
  readonly #open = new Map<string, OpenEpisode>();
  /** Ids by fingerprint; rows of before have none, and are more than one where starts differed. */
  readonly #byFingerprint = new Map<string, Set<string>>();

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, TABLE)) this.#put(withFingerprint(EPISODE.decode(value)));
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes over changes that were committed. */
  apply(changes: OpenEpisodeChanges): void {
    for (const [id, episode] of changes) {
      this.#remove(id);
      if (episode !== undefined) this.#put(episode);
    }
  }

  /** Those under a fingerprint. */
  under(fingerprint: string): OpenEpisode[] {
    return [...(this.#byFingerprint.get(fingerprint) ?? [])].flatMap((id) => this.#open.get(id) ?? []);
  }

  /** Those of a detector that are not among `known`, at most `most`. */
  othersOf(detector: string, known: ReadonlySet<string>, most: number): OpenEpisode[] {
    const others: OpenEpisode[] = [];
    for (const [id, episode] of this.#open) {
      if (others.length === most) break;
      if (episode.detector === detector && !known.has(id)) others.push(episode);
    }
    return others;
  }

  #put(episode: OpenEpisode): void {
    const { episodeId, fingerprint } = episode;
    this.#open.set(episodeId, episode);
    if (fingerprint === undefined) return;
    const ids = this.#byFingerprint.get(fingerprint) ?? new Set();
    this.#byFingerprint.set(fingerprint, ids.add(episodeId));
  }

  #remove(id: string): void {
    const fingerprint = this.#open.get(id)?.fingerprint;
    this.#open.delete(id);
    if (fingerprint === undefined) return;
    const ids = this.#byFingerprint.get(fingerprint);
    ids?.delete(id);
    if (ids?.size === 0) this.#byFingerprint.delete(fingerprint);
  }
}

/** A row of before has the labels that an event keeps, which are nearly always all of them. */
function withFingerprint(episode: OpenEpisode): OpenEpisode {
  if (episode.detector !== DETECTOR_EXTERNAL || episode.fingerprint !== undefined) return episode;
  return { ...episode, fingerprint: alertFingerprint(episode.tenant, episode.attributes) };
}

/** Notes what a frame changes: `isOpen` says what became of its episode, undefined for nothing. */
export function noteOpenEpisode(changes: Map<string, OpenEpisode | undefined>, frame: EpisodeFrame, isOpen: boolean | undefined): void {
  if (frame.detector === DETECTOR_Z_SCORE) return;
  const { transition, observedAtMs: _, z: _z, verdict: _v, explanation: _e, arrivalMs: _a, ...openEpisodes } = frame;
  if (isClosing(transition)) changes.set(frame.episodeId, undefined);
  else if (isOpen === true) changes.set(frame.episodeId, openEpisodes);
}

export function openEpisodeOperations(changes: OpenEpisodeChanges): StoreOperation[] {
  return [...changes].map(([id, episode]) => ({
    table: TABLE,
    key: idBytes(id),
    value: episode === undefined ? undefined : EPISODE.encode(episode),
  }));
}
