// The end of a form: what was wrong with it, and the button that sends it.
import { Button } from "./basics.tsx";

export function Send({ fault, action, onSend }: { fault: string; action: string; onSend: () => void }) {
  return (
    <>
      {fault !== "" && (
        <p class="note bad" role="alert">
          {fault}
        </p>
      )}
      <div class="tools">
        <Button tone="main" onClick={onSend}>
          {action}
        </Button>
      </div>
    </>
  );
}
