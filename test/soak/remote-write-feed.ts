// Remote-write requests of a fixed set of series, encoded once: each round only values and times are written over those before, so that the sender takes
// little of the machine whose server is watched.
import { compressSync } from "snappy";
import { bytesField, labelField } from "../support/remote-write-body.ts";

/** Tag, length, tag and double, tag and a varint of six bytes. */
const SAMPLE_BYTES = 18;
const VALUE_AT = 3;
const TIME_AT = 12;
const TIME_BYTES = 6;

export class RemoteWriteFeed {
  readonly #body: Buffer;
  readonly #samples: number[] = [];

  /** One request with one sample of each series. */
  constructor(series: ReadonlyArray<ReadonlyArray<readonly [name: string, value: string]>>) {
    const parts: Buffer[] = [];
    let length = 0;
    for (const labels of series) {
      const content = [
        ...labels.flatMap(([name, value]) => labelField(name, value)),
        0x12,
        SAMPLE_BYTES - 2,
        9,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        16,
        0,
        0,
        0,
        0,
        0,
        0,
      ];
      const part = Buffer.from(bytesField(1, content));
      parts.push(part);
      length += part.length;
      this.#samples.push(length - SAMPLE_BYTES);
    }
    this.#body = Buffer.concat(parts);
  }

  /** The compressed request of one moment. */
  at(timeMs: number, value: (series: number) => number): Buffer {
    for (const [series, at] of this.#samples.entries()) {
      this.#body.writeDoubleLE(value(series), at + VALUE_AT);
      let rest = timeMs;
      for (let byte = 0; byte < TIME_BYTES; byte++) {
        this.#body[at + TIME_AT + byte] = (rest % 128) | (byte < TIME_BYTES - 1 ? 128 : 0);
        rest = Math.floor(rest / 128);
      }
    }
    return compressSync(this.#body) as Buffer;
  }
}
