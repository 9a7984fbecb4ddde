/** The items: chosen, opened and dismissed, by mouse and by keys. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { safeLink } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { useKeys } from "../../part/keyboard";
import { Outside } from "../../part/link/Outside";
import { useScope } from "../../part/scope";
import { State, type Tone } from "../../part/State";
import { Time } from "../../part/Time";
import { Digest } from "./Digest";
import { useDismissal } from "./dismissal";
import { nameOf } from "./kinds";
import { inboxText } from "./text";

type Item = Schemas["InboxItem"];

const TONES: Readonly<Record<Item["severity"], Tone>> = { info: "off", warning: "waits", critical: "failed" };

/** The page of the console that an item is about, if it is one. */
function pageOf({ href }: Item): string | null {
  return href?.startsWith("/console/") ? href.slice("/console".length) : null;
}

/** Of a pull request or an issue, as people speak of it: `acme/ranker #12`. */
function placeOf({ repo, href }: Item): string {
  const number = /\/(?:pull|issues)\/(?<number>\d+)$/.exec(href ?? "")?.groups?.number;
  return number ? `${repo ?? ""} #${number}` : (repo ?? "");
}

/** The title leads to what the item is about: elsewhere, or a page of the console. */
function Title({ item }: { item: Item }) {
  const page = pageOf(item);
  return page ? <Link href={page}>{item.title}</Link> : <Outside address={item.href}>{item.title}</Outside>;
}

interface RowProps {
  item: Item;
  isCurrent: boolean;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}

function Row({ item, isCurrent, isChosen, onChoose }: RowProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isCurrent) row.current?.focus();
  }, [isCurrent]);
  return (
    <li ref={row} class="inbox-row" tabIndex={-1} aria-current={isCurrent || undefined}>
      <input type="checkbox" aria-label={item.title} checked={isChosen} onChange={(event) => onChoose(event.currentTarget.checked)} />
      <div>
        <p>
          <State tone={TONES[item.severity]}>{nameOf(item.kind)}</State> <span class="quiet">{placeOf(item)}</span>
        </p>
        <p>
          <Title item={item} />
        </p>
        <Digest item={item} />
      </div>
      <Time at={item.created_at} />
    </li>
  );
}

function useChoice(items: readonly Item[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const ids = items.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  return { ids, choose, chooseAll: () => setChosen(new Set(items.map(({ id }) => id))), has: (id: string) => chosen.has(id) };
}

/** The item that the keys are for. */
function useCurrent(items: readonly Item[]) {
  const [at, setAt] = useState(-1);
  const move = (by: number) => setAt((before) => Math.min(Math.max(before + by, 0), items.length - 1));
  return { item: items[at], next: () => move(1), previous: () => move(-1) };
}

function open(item: Item, navigate: (page: string) => void): void {
  const page = pageOf(item);
  const address = safeLink(item.href);
  if (page) navigate(page);
  else if (address) window.open(address, "_blank", "noopener,noreferrer");
}

interface Props {
  items: readonly Item[];
  isArchived: boolean; // they are shown to be brought back
}

export function List({ items, isArchived }: Props) {
  const choice = useChoice(items);
  const current = useCurrent(items);
  const [, navigate] = useLocation();
  const { dismiss, restore, undo, isPending, error } = useDismissal();
  const mayDismiss = useScope("fleet:write");
  const change = isArchived ? restore : dismiss;
  useKeys({
    j: current.next,
    k: current.previous,
    Enter: () => current.item && open(current.item, navigate),
    x: () => mayDismiss && !isArchived && current.item && dismiss([current.item.id]),
    u: undo,
  });
  const count = Math.max(1, choice.ids.length);
  return (
    <>
      {mayDismiss && (
        <div class="actions">
          <Button kind="main" disabled={choice.ids.length === 0 || isPending} onClick={() => change(choice.ids)}>
            {isArchived ? inboxText.restore(count) : inboxText.dismiss(count)}
          </Button>
          <Button kind="quiet" onClick={choice.chooseAll}>
            {inboxText.all(items.length)}
          </Button>
        </div>
      )}
      {error && <Fault error={error} />}
      <ul class="inbox">
        {items.map((item) => (
          <Row
            key={item.id}
            item={item}
            isCurrent={item === current.item}
            isChosen={choice.has(item.id)}
            onChoose={(isChosen) => choice.choose(item.id, isChosen)}
          />
        ))}
      </ul>
      <p class="small quiet">{inboxText.keys}</p>
    </>
  );
}
