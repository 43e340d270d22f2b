// The user interface's first script.
import { render } from "preact";
import { connectKeyboard } from "./app/keyboard.ts";
import { Shell } from "./app/shell.tsx";
import { connectStream } from "./live/stream.ts";

const root = document.getElementById("app") as HTMLElement;
root.replaceChildren();
render(<Shell />, root);
connectKeyboard();
connectStream();
