// A line of the log for people: `2026-11-25T08:00:00.000Z warn  store: what is said field=value`. Made of the JSON line, so that both say the same.

const LEVEL_WIDTH = 5;
/** Whatever a terminal might take for a command, or a reader for the next line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** The text of a line that pino has written. */
export function logText(json: string): string {
  const { level, time, component, msg, stack, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`);
  const trace = stack === undefined ? "" : `\n${String(stack).split("\n").map(shown).join("\n")}`;
  return `${time} ${String(level).padEnd(LEVEL_WIDTH)} ${component}: ${shown(String(msg))}${rest.join("")}${trace}\n`;
}

function fieldText(value: unknown): string {
  const text = String(value);
  return /^[^\s"=]+$/.test(text) ? shown(text) : shown(JSON.stringify(text));
}

function shown(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
