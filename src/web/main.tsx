// The user interface's first script.
import { render } from "preact";
import { connectKeyboard } from "./app/keyboard.ts";
import { fetchDetailPages } from "./app/map.ts";
import { Shell } from "./app/shell.tsx";
import { openWanted } from "./app/wanted-route.ts";
import { connectStream } from "./live/stream.ts";

const root = document.getElementById("app") as HTMLElement;
root.replaceChildren();
openWanted();
render(<Shell />, root);
connectKeyboard();
connectStream();
/** Behind the first page's own scripts and answers. */
const DETAIL_PAGES_MS = 1_000;
setTimeout(fetchDetailPages, DETAIL_PAGES_MS);
