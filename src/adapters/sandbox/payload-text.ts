// What a sandbox process calls a payload is checked here: a process that was broken may say anything.
import { TRANSFORM_OUTPUT_LEVELS_MAX } from "../../core/config/sandbox-limits.ts";

/** Why a text is no payload; undefined where it is one. */
export function payloadProblem(text: string): string | undefined {
  if (levelsOf(text) > TRANSFORM_OUTPUT_LEVELS_MAX) return `the payload is nested more than ${TRANSFORM_OUTPUT_LEVELS_MAX} deep`;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return "the payload is no JSON";
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Deepest level of a JSON text, told without recursion. */
function levelsOf(text: string): number {
  let level = 0;
  let deepest = 0;
  let isInText = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInText) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++level);
    else if (code === 0x5d || code === 0x7d) level--;
  }
  return deepest;
}
