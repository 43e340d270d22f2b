import { Button } from "./basics.tsx";

/** "12 new": what came since, shown when the reader asks for it. */
export function FreshButton({ count, onShow }: { count: number; onShow: () => void }) {
  if (count === 0) return null;
  return (
    <div class="fresh">
      <Button tone="main" icon="up" onClick={onShow}>
        {count} new
      </Button>
    </div>
  );
}
