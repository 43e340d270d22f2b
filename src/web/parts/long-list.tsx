// Long lists and tables: rows stand in pieces, and a piece that is far from the screen is one empty element of the height that it had, so that ten thousand rows
// cost what a screen of them costs. The end of the list reads on by itself.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Rows of a piece: some three screens are there at a time. */
const PIECE_ROWS = 25;
/** Pieces that are drawn at once: a screen of 1,400 px has some 40 rows. */
const FIRST_PIECES = 2;
/** Distance from the screen, within which rows are kept and the next page is asked for. */
const NEAR_PX = 900;

const watched = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | undefined;

function watch(element: Element, onNear: (isNear: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) watched.get(target)?.(isIntersecting);
    },
    { rootMargin: `${NEAR_PX}px 0px` },
  );
  watched.set(element, onNear);
  observer.observe(element);
  return () => observer?.unobserve(element);
}

/** Whether an element is near the screen, and the height that it had while it was. */
function useNear<E extends HTMLElement>(isNearFirst: boolean, heightFirst: number) {
  const ref = useRef<E>(null);
  const [isNear, setNear] = useState(isNearFirst);
  const height = useRef(heightFirst);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    return watch(element, (next) => {
      // Who stands in a row keeps it.
      if (!next && element.contains(document.activeElement)) return;
      if (!next && element.offsetHeight > 0) height.current = element.offsetHeight;
      setNear(next);
    });
  }, []);
  return { ref, isNear, heightPx: height.current };
}

interface PieceProps<R> {
  readonly rows: readonly R[];
  readonly first: number;
  readonly isNearFirst: boolean;
  readonly rowPx: number;
  show(row: R, index: number): ComponentChildren;
}

function ListPiece<R>({ rows, first, isNearFirst, rowPx, show }: PieceProps<R>) {
  const { ref, isNear, heightPx } = useNear<HTMLDivElement>(isNearFirst, rows.length * rowPx);
  if (!isNear) return <div ref={ref} style={{ height: `${heightPx}px` }} />;
  return (
    <div ref={ref}>
      <ul class="list">{rows.map((row, at) => show(row, first + at))}</ul>
    </div>
  );
}

function TablePiece<R>({ rows, first, isNearFirst, rowPx, show, columns }: PieceProps<R> & { columns: number }) {
  const { ref, isNear, heightPx } = useNear<HTMLTableSectionElement>(isNearFirst, rows.length * rowPx);
  return (
    <tbody ref={ref as RefObject<HTMLTableSectionElement>}>
      {isNear ? (
        rows.map((row, at) => show(row, first + at))
      ) : (
        <tr>
          <td colSpan={columns} style={{ height: `${heightPx}px` }} />
        </tr>
      )}
    </tbody>
  );
}

function piecesOf<R>(rows: readonly R[]): Array<readonly R[]> {
  return Array.from({ length: Math.ceil(rows.length / PIECE_ROWS) }, (_, piece) =>
    rows.slice(piece * PIECE_ROWS, (piece + 1) * PIECE_ROWS),
  );
}

/** Items, each an `<li>` of some `rowPx`. */
export function LongList<R>({ rows, rowPx, show }: { rows: readonly R[]; rowPx: number; show: (row: R) => ComponentChildren }) {
  return (
    <>
      {piecesOf(rows).map((piece, at) => (
        <ListPiece rows={piece} first={at * PIECE_ROWS} isNearFirst={at < FIRST_PIECES} rowPx={rowPx} show={show} key={at} />
      ))}
    </>
  );
}

/** Bodies of a table, each row a `<tr>` of some `rowPx`. */
export function LongTableRows<R>({
  rows,
  rowPx,
  columns,
  show,
}: {
  rows: readonly R[];
  rowPx: number;
  columns: number;
  show: (row: R, index: number) => ComponentChildren;
}) {
  return (
    <>
      {piecesOf(rows).map((piece, at) => (
        <TablePiece
          rows={piece}
          first={at * PIECE_ROWS}
          isNearFirst={at < FIRST_PIECES}
          rowPx={rowPx}
          columns={columns}
          show={show}
          key={at}
        />
      ))}
    </>
  );
}

/** Reads on when the end of a list comes near. */
export function ReadsOn({ hasMore, readOn }: { hasMore: boolean; readOn: () => Promise<unknown> }) {
  const { ref, isNear } = useNear<HTMLDivElement>(false, 0);
  const isReading = useRef(false);
  const [version, setVersion] = useState(0);
  useEffect(() => {
    if (!isNear || !hasMore || isReading.current) return;
    isReading.current = true;
    readOn().then(
      () => {
        isReading.current = false;
        setVersion((count) => count + 1);
      },
      // The button beside it says why, and tries again.
      () => {
        isReading.current = false;
      },
    );
  }, [isNear, hasMore, version]);
  return <div ref={ref} />;
}
