// Fields of protobuf messages, as bytes.

/** Bytes of a varint, as numbers. */
export function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  return [...bytes, rest];
}

/** A field of bytes that other fields make up. */
export function message(field, parts) {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(content.length)]), content]);
}

/** A field of text. */
export function string(field, content) {
  return message(field, [Buffer.from(content)]);
}

/** A fixed64 field. */
export function fixed(field, value) {
  const bytes = Buffer.alloc(9, field * 8 + 1);
  bytes.writeBigUInt64LE(value, 1);
  return bytes;
}

/** A double field. */
export function double(field, value) {
  const bytes = Buffer.alloc(9, field * 8 + 1);
  bytes.writeDoubleLE(value, 1);
  return bytes;
}

/** A KeyValue of OTLP in its JSON form, as field `field`. */
export function attribute(field, { key, value }) {
  const content = value.intValue === undefined ? string(1, value.stringValue) : Buffer.from([0x18, ...varint(Number(value.intValue))]);
  return message(field, [string(1, key), message(2, [content])]);
}
