import { Button, CopyButton } from "./basics.tsx";

/** Something that the server tells once. */
export function Secret({ text, onDone }: { text: string; onDone: () => void }) {
  return (
    <div class="note warn stack" role="status">
      <strong>This is shown once. Keep it now.</strong>
      <pre>{text}</pre>
      <div class="tools">
        <CopyButton text={text} />
        <Button onClick={onDone}>I have it</Button>
      </div>
    </div>
  );
}
