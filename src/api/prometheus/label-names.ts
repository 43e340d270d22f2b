// Names of labels in paths: UTF-8 names may come escaped as U__ with _hex_ for each other character (model/labels and common/model/metric.go of Prometheus).

const HEX_LENGTH_MAX = 6;

/** The name that a path's text stands for; undefined where it is no name. */
export function unescapeLabelName(text: string): string | undefined {
  if (!text.startsWith("U__")) return text === "" ? undefined : text;
  const escaped = text.slice(3);
  let name = "";
  for (let at = 0; at < escaped.length; ) {
    const character = String.fromCodePoint(escaped.codePointAt(at) as number);
    at += character.length;
    if (character !== "_") {
      name += character;
      continue;
    }
    if (escaped[at] === "_") {
      name += "_";
      at++;
      continue;
    }
    const end = escaped.indexOf("_", at);
    const decoded = end < 0 ? undefined : codePoint(escaped.slice(at, end));
    if (decoded === undefined) return text;
    name += decoded;
    at = end + 1;
  }
  return name === "" ? undefined : name;
}

/** A character by its hex digits; undefined where they name none. */
function codePoint(hex: string): string | undefined {
  if (hex.length > HEX_LENGTH_MAX || !/^[0-9a-fA-F]+$/.test(hex)) return undefined;
  const code = Number.parseInt(hex, 16);
  return code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff) ? undefined : String.fromCodePoint(code);
}
