import { describe, expect, it } from "vitest";
import { parseLabelSpan } from "../../../../src/domain/kernel/ingest-kernel.ts";
import { bytesField, labelField, sampleField, varint, varintField } from "../../../support/remote-write-body.ts";

const parse = (bytes: readonly number[]) => parseLabelSpan(Uint8Array.from(bytes));

describe("parseLabelSpan", () => {
  it.each<[string, number[], Array<[string, string]> | undefined]>([
    ["nothing", [], []],
    [
      "labels in their order",
      [...labelField("__name__", "up"), ...labelField("a", "ü€😀")],
      [
        ["__name__", "up"],
        ["a", "ü€😀"],
      ],
    ],
    ["absent name and value", bytesField(1, []), [["", ""]]],
    [
      "value before name, unknown fields",
      bytesField(1, [...varintField(9, 2n ** 63n), ...bytesField(2, [98]), 0x55, 1, 2, 3, 4, ...bytesField(1, [97])]),
      [["a", "b"]],
    ],
    ["the last of repeated ones", bytesField(1, [...bytesField(1, [97]), ...bytesField(1, [98])]), [["b", ""]]],
    [
      "fields between labels",
      [...labelField("a", "1"), ...sampleField({ value: 1, time: 5 }), ...varintField(9, 1), ...labelField("b", "2")],
      [
        ["a", "1"],
        ["b", "2"],
      ],
    ],
    ["a byte order mark", labelField("\ufeffa", "\ufeff"), [["\ufeffa", "\ufeff"]]],
    ["bytes that are not UTF-8", bytesField(1, bytesField(1, [0xff])), undefined],
    ["an encoded surrogate", bytesField(1, bytesField(2, [0xed, 0xa0, 0x80])), undefined],
    ["an overlong zero", bytesField(1, bytesField(2, [0xc0, 0x80])), undefined],
    ["a length over the end", [0x0a, 5, 0x0a, 1], undefined],
    ["a name that is a number", bytesField(1, varintField(1, 5)), undefined],
    ["a label that is a number", varintField(1, 5), undefined],
    ["a group", [0x0b, 0x0c], undefined],
    ["field number 0", [0x02, 0x00], undefined],
    ["a varint that is cut off", [0x0a, 0x80], undefined],
    ["a varint of eleven bytes", [0x48, ...new Array<number>(10).fill(0x80), 0], undefined],
    ["a tag in two bytes", [0x8a, 0x00, ...varint(2), 0x0a, 0], [["", ""]]],
  ])("reads %s", (_name, bytes, expected) => {
    expect(parse(bytes)).toEqual(expected);
  });

  it("reads from shared memory", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(64));
    const label = labelField("a", "b");
    shared.set(label, 7);
    expect(parseLabelSpan(shared.subarray(7, 7 + label.length))).toEqual([["a", "b"]]);
  });
});
