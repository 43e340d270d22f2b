import { useEffect, useState } from "preact/hooks";
import { route, setQuery } from "../state/route.ts";

const WAIT_MS = 200;

/** A text to find rows by, in the address as `q`; asked when the typing rests. */
export function SearchField({ label, name = "q" }: { label: string; name?: string }) {
  const current = route.value.query[name] ?? "";
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  useEffect(() => {
    if (text === current) return;
    const timer = setTimeout(() => setQuery({ [name]: text || undefined }), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input type="search" aria-label={label} placeholder={label} value={text} onInput={(event) => setText(event.currentTarget.value)} />
  );
}
