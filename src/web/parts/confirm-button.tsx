// A button for what cannot be taken back: asks once, in its own place.
import { useEffect, useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { notify } from "../state/notices.tsx";
import { Button } from "./basics.tsx";

const ASKING_MS = 5_000;

export function ConfirmButton({
  children,
  question,
  done,
  work,
}: {
  children: string;
  question: string;
  done: string;
  work: () => Promise<unknown>;
}) {
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (!isAsking) return;
    const timer = setTimeout(() => setAsking(false), ASKING_MS);
    return () => clearTimeout(timer);
  }, [isAsking]);
  const press = async () => {
    if (!isAsking) return setAsking(true);
    setAsking(false);
    await work();
    notify("good", done);
    noteChange();
  };
  return (
    <Button tone="danger" onClick={press}>
      {isAsking ? question : children}
    </Button>
  );
}
