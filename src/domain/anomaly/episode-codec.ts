// The frame of an episode on its way from an engine to the coordinator, packed:
//
//   version u8 = 1, transition u8, direction u8 (1 = high), episode id 16 bytes, started, observed, z and arrival f64, {0 or 1 and its text: the explanation
//   where it does not follow from the verdict}, {2: from and to f64 of the level that was accepted}, detector, identity text (domain/series/stream-identity.ts), verdict (verdict-codec.ts)
//
// A frame that begins with a brace is JSON of an EpisodeFrame: the same in other words.
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import { identityName } from "../series/stream-identity.ts";
import { readVerdict, readWord, TEXT_BYTES_MAX, writeVerdict, writeWord } from "./verdict-codec.ts";

const VERSION = 1;
const BRACE = 0x7b;
/** What stands beside the fields that all have. */
const HAS_EXPLANATION = 1;
const HAS_LEVEL = 2;
const ID_BYTES = 16;
const TRANSITIONS = ["open", "update", "close", "end"] as const;
const DAMAGE = "a frame of an episode is damaged";

const writer = new ByteWriter(4096);
const decoder = new TextDecoder();

/** An episode's frame with the stream's names as the canonical bytes of its identity. Without an explanation it is the sentence that the verdict gives. */
export interface PackedEpisode
  extends Pick<
    EpisodeFrame,
    "transition" | "detector" | "direction" | "startedAtMs" | "observedAtMs" | "z" | "verdict" | "arrivalMs" | "level"
  > {
  readonly identity: Uint8Array;
  readonly episodeId: Uint8Array;
  readonly explanation?: string;
}

/** Packs a frame; the bytes are the caller's. */
export function encodeEpisode(episode: PackedEpisode): Uint8Array {
  writer.at = 0;
  writer.u8(VERSION);
  writer.u8(TRANSITIONS.indexOf(episode.transition));
  writer.u8(episode.direction === "high" ? 1 : 0);
  writer.copy(episode.episodeId);
  writer.double(episode.startedAtMs);
  writer.double(episode.observedAtMs);
  writer.double(episode.z);
  writer.double(episode.arrivalMs);
  const { explanation, level } = episode;
  writer.u8((explanation === undefined ? 0 : HAS_EXPLANATION) | (level === undefined ? 0 : HAS_LEVEL));
  if (explanation !== undefined) writer.text(explanation);
  if (level !== undefined) for (const value of [level.from, level.to]) writer.double(value);
  writeWord(writer, episode.detector);
  writer.varint(episode.identity.length);
  writer.copy(episode.identity);
  writeVerdict(writer, episode.verdict);
  return writer.bytes.slice(0, writer.at);
}

/** Reads a frame. Throws on bytes that are none. */
export function decodeEpisode(payload: Uint8Array): EpisodeFrame {
  if (payload[0] === BRACE) return JSON.parse(decoder.decode(payload)) as EpisodeFrame;
  if (payload[0] !== VERSION) throw new Error(`a frame of an episode has version ${payload[0]}, this program reads ${VERSION}`);
  return new DecodedEpisode(new ByteReader(payload, DAMAGE, 1));
}

/**
 * A frame whose verdict is read when it is asked for: that of a closing says nothing new. A class, because of an object literal with getters V8 keeps the
 * getters, and what they refer to, until the next full collection: 3 KB an episode, and a hidden class of its own.
 */
class DecodedEpisode implements EpisodeFrame {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly attributes: EpisodeFrame["attributes"];
  readonly transition: EpisodeFrame["transition"];
  readonly episodeId: string;
  readonly detector: string;
  readonly direction: EpisodeFrame["direction"];
  readonly startedAtMs: number;
  readonly observedAtMs: number;
  readonly z: number;
  readonly arrivalMs: number;
  readonly explanation: string | null;
  readonly level: EpisodeFrame["level"];
  readonly #reader: ByteReader;
  #read: { readonly verdict: unknown } | undefined;

  constructor(reader: ByteReader) {
    this.transition = TRANSITIONS[reader.u8()] ?? reader.fail();
    this.direction = reader.u8() === 1 ? "high" : "low";
    this.episodeId = reader.hex(ID_BYTES);
    this.startedAtMs = reader.double();
    this.observedAtMs = reader.double();
    this.z = reader.double();
    this.arrivalMs = reader.double();
    const has = reader.u8();
    this.explanation = (has & HAS_EXPLANATION) === 0 ? null : reader.text(TEXT_BYTES_MAX);
    this.level = (has & HAS_LEVEL) === 0 ? undefined : { from: reader.double(), to: reader.double() };
    this.detector = readWord(reader);
    const { tenant, environment, serviceId, metricName, attributes } = identityName(reader.text(TEXT_BYTES_MAX));
    this.tenant = tenant;
    this.environment = environment;
    this.serviceId = serviceId;
    this.metricName = metricName;
    this.attributes = attributes;
    this.#reader = reader;
  }

  get verdict(): unknown {
    this.#read ??= { verdict: readVerdict(this.#reader) };
    return this.#read.verdict;
  }
}
