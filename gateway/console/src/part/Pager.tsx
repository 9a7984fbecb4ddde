import { useRef } from "preact/hooks";

import { count } from "../api/format";
import { text } from "../text";
import { Button } from "./form/Button";

interface Props {
  offset: number;
  size: number;
  total: number;
  onMove: (offset: number) => void;
}

const words = text.pager;

/** Goes through a list page by page. From beyond its end, where rows went meanwhile, the way back leads to its last page. */
export function Pager({ offset, size, total, onMove }: Props) {
  const nav = useRef<HTMLElement>(null);
  const last = Math.max(0, Math.ceil(total / size) - 1) * size;
  const isBeyond = offset > last;
  if (total <= size && !isBeyond) return null;
  const move = (to: number) => {
    onMove(to);
    const list = nav.current?.closest("section, main");
    if (list && list.getBoundingClientRect().top < 0) list.scrollIntoView();
  };
  return (
    <nav ref={nav} class="pager" aria-label={words.label}>
      <Button disabled={offset === 0} onClick={() => move(Math.max(0, Math.min(offset - size, last)))}>
        {words.previous}
      </Button>
      <span class="figure">
        {isBeyond ? words.beyond : words.shown(count(offset + 1), count(Math.min(total, offset + size)), count(total))}
      </span>
      <Button disabled={offset >= last} onClick={() => move(offset + size)}>
        {words.next}
      </Button>
    </nav>
  );
}
