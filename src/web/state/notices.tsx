// Short notices of what was done, in a corner, and for screen readers.
import { signal } from "@preact/signals";

interface Notice {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
}

const SHOWN_MS = 5_000;
const SHOWN_MAX = 4;
const notices = signal<readonly Notice[]>([]);
let ids = 0;

/** Tells the user what came of what they did. */
export function notify(tone: Notice["tone"], text: string): void {
  const id = ++ids;
  notices.value = [...notices.value, { id, tone, text }].slice(-SHOWN_MAX);
  setTimeout(() => dismiss(id), tone === "bad" ? 3 * SHOWN_MS : SHOWN_MS);
}

function dismiss(id: number): void {
  notices.value = notices.value.filter((one) => one.id !== id);
}

export function Notices() {
  return (
    <div class="notices" aria-live="polite">
      {notices.value.map(({ id, tone, text }) => (
        <div class={`notice ${tone}`} key={id}>
          <span>{text}</span>
          <button type="button" class="button quiet square" aria-label="dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
