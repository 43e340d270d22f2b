/** A Map, or a bounded one. */
interface Values<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** The value of a key, which is made and put where there is none; as Map.getOrInsertComputed of ECMAScript 2026. */
export function getOrMake<K, V>(values: Values<K, V>, key: K, make: () => V): V {
  let value = values.get(key);
  if (value === undefined) {
    value = make();
    values.set(key, value);
  }
  return value;
}
