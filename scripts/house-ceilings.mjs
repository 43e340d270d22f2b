// How check-house.mjs compares what it counts with its ceilings. A ceiling is a number, a list of names, or an object of ceilings.

/** Returns a line for each figure above its ceiling, and for each name that no ceiling's list has. */
export function compare(ceilings, counts, of = "") {
  return Object.entries(counts).flatMap(([name, count]) => {
    const ceiling = ceilings[name];
    const what = `${of}${name}`;
    if (ceiling === undefined) return [`${what} has no ceiling`];
    if (Array.isArray(count)) return count.filter((entry) => !ceiling.includes(entry)).map((entry) => `${what}: ${entry} is new`);
    if (typeof count === "object") return compare(ceiling, count, `${what} `);
    return count > ceiling ? [`${what}: ${count}, at most ${ceiling} (node scripts/check-house.mjs --list)`] : [];
  });
}

/** Returns a line for each ceiling that is higher than it was, and for each name that a list has gained. */
export function raised(before, ceilings) {
  const known = Object.fromEntries(Object.entries(ceilings).filter(([name]) => before[name] !== undefined));
  return compare(before, known, "ceilings only fall: ");
}

/** Returns the ceilings with those lowered that counts are below of; a name that is gone leaves its list. */
export function lowered(ceilings, counts) {
  return Object.fromEntries(
    Object.entries(ceilings).map(([name, ceiling]) => {
      const count = counts[name];
      if (Array.isArray(ceiling)) return [name, ceiling.filter((entry) => count.includes(entry))];
      if (typeof ceiling === "object") return [name, lowered(ceiling, count)];
      return [name, Math.min(ceiling, count)];
    }),
  );
}
