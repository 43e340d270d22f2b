// The way in for whoever has no session, or whose session has ended: what was typed on the page below stays.
import { useEffect, useState } from "preact/hooks";
import { isSignedOut, noteChange } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { reopenStream } from "../live/stream.ts";
import { Button } from "../parts/basics.tsx";
import { forgetWanted, keepWanted, onSignedInElsewhere } from "./wanted-route.ts";

export function SignInPanel() {
  const [text, setText] = useState("");
  useEffect(() => {
    keepWanted(location.hash);
    return onSignedInElsewhere(goOn);
  }, []);
  const signIn = async () => {
    await call("POST /sign-in", { headers: { Authorization: `Bearer ${text.trim()}` } });
    setText("");
    forgetWanted();
    goOn();
  };
  return (
    <form
      class="panel sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn();
      }}
    >
      <h2>Sign in</h2>
      <p>
        With a token or an API key. <code>vedette sign-in</code> on the server's machine prints a link that works once;{" "}
        <code>vedette token</code> makes a token. What you have typed below stays.
      </p>
      <div class="row">
        <input
          type="password"
          autocomplete="off"
          aria-label="Token or API key"
          placeholder="Token or API key"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Button tone="main" onClick={signIn} disabled={text.trim() === ""}>
          Sign in
        </Button>
        <Button
          tone="quiet"
          onClick={() => {
            isSignedOut.value = false;
          }}
        >
          Not now
        </Button>
      </div>
    </form>
  );
}

/** There is a session: what is on the page is asked again. */
function goOn(): void {
  isSignedOut.value = false;
  reopenStream();
  noteChange();
}
