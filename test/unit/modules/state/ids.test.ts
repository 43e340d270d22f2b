// Bytes of ids: of 32 lower-case hex digits alone, in keys, in messages and in packed rows.
import { expect, it } from "vitest";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { KeyBuilder } from "../../../../src/domain/codec/key.ts";
import { storedId } from "../../../../src/modules/state/stored-message.ts";
import { idBytes, idText, knownIdBytes, tenantIdKey } from "../../../../src/modules/state/tables.ts";

const ID = "0123456789abcdef9876543210fedcba";

it("takes hex digits alone", () => {
  expect(idText(idBytes(ID))).toBe(ID);
  expect(storedId(ID)).toEqual({ hex: idBytes(ID) });
  for (const other of ["W", "`", "A", "g", ":", "/", "\u0057", "\u0130"]) {
    const id = other + ID.slice(1);
    expect(knownIdBytes(id)).toBeUndefined();
    expect(storedId(id)).toEqual({ text: id });
    expect(() => idBytes(id)).toThrow(RangeError);
    expect(new ByteWriter().tryHex(id)).toBe(false);
  }
  expect(knownIdBytes(ID.slice(2))).toBeUndefined();
});

it("makes the keys of what belongs to something of a tenant", () => {
  const key = () => new KeyBuilder().text("shop").fixed(idBytes(ID));
  expect(tenantIdKey("shop", ID)).toEqual(key().finish());
  expect(tenantIdKey("shop", ID, (of) => of.u16(7))).toEqual(key().u16(7).finish());
});
