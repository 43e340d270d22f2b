// Cuts a file of bodies in two, for rows that do something between the cold requests and those that count.
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";

const headBytes = 12;
const chunkBytes = 8 * 1024 * 1024;

/** Writes the first `requests` bodies of `path` to `path.head` and the others to `path.tail`; returns both paths. */
export function splitBodies(/** @type {string} */ path, /** @type {number} */ requests) {
  const file = openSync(path, "r");
  const bytes = fstatSync(file).size;
  const cut = endOfBody(file, requests, bytes);
  copyRange(file, 0, cut, `${path}.head`);
  copyRange(file, cut, bytes, `${path}.tail`);
  closeSync(file);
  return { head: `${path}.head`, tail: `${path}.tail` };
}

function endOfBody(file, requests, bytes) {
  const head = Buffer.alloc(headBytes);
  let at = 0;
  for (let body = 0; body < requests; body++) {
    if (at + headBytes > bytes) throw new RangeError(`the file holds ${body} bodies, fewer than ${requests}`);
    readSync(file, head, 0, headBytes, at);
    at += headBytes + head.readUInt32LE(8);
  }
  return at;
}

function copyRange(file, from, to, path) {
  const target = openSync(path, "w");
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = from; at < to; ) {
    const read = readSync(file, chunk, 0, Math.min(chunkBytes, to - at), at);
    writeSync(target, chunk, 0, read);
    at += read;
  }
  closeSync(target);
}
