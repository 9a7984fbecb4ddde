import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link, useSearchParams } from "wouter-preact";

import { safeLink } from "../../api/format";
import { answer, api, type Schemas } from "../../api/client";
import { inbox } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Empty } from "../../part/Empty";
import { Fault } from "../../part/Fault";
import { useNotice } from "../../part/Notice";
import { Page } from "../../part/Page";
import { State, type Tone } from "../../part/State";
import { Tabs } from "../../part/Tabs";
import { Time } from "../../part/Time";
import { text } from "../../text";

type Item = Schemas["InboxItem"];

const TONES: Readonly<Record<Item["severity"], Tone>> = { info: "off", warning: "waits", critical: "failed" };
const VIEWS = [
  ["", text.inbox.title],
  ["archived", text.inbox.archived],
] as const;

function useDismissal() {
  const client = useQueryClient();
  const notice = useNotice();
  const renew = () => client.invalidateQueries({ queryKey: ["inbox"] });
  const change = (ids: string[], undo: boolean) => answer(api.POST("/api/v1.0/fleet/agents/inbox/dismiss", { body: { ids, undo } }));
  const undoing = useMutation({ mutationFn: (ids: string[]) => change(ids, true), onSuccess: renew });
  return useMutation({
    mutationFn: (ids: string[]) => change(ids, false),
    onSuccess: async (_answer, ids) => {
      notice({ text: text.inbox.archived, onUndo: () => undoing.mutate(ids) });
      await renew();
    },
  });
}

interface RowProps {
  item: Item;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}

/** The title leads to what the item is about: elsewhere, or a page of the console. */
function Title({ item: { href, title } }: { item: Item }) {
  const address = safeLink(href);
  const page = href?.startsWith("/console/") ? href.slice("/console".length) : null;
  if (page) return <Link href={page}>{title}</Link>;
  if (!address) return <>{title}</>;
  return (
    <a href={address} rel="noopener noreferrer" target="_blank">
      {title}
    </a>
  );
}

function Row({ item, isChosen, onChoose }: RowProps) {
  return (
    <li class="inbox-row">
      <input type="checkbox" aria-label={item.title} checked={isChosen} onChange={(event) => onChoose(event.currentTarget.checked)} />
      <div>
        <p>
          <State tone={TONES[item.severity]}>{text.inbox.kinds[item.kind] ?? item.kind}</State> <span class="quiet">{item.repo}</span>
        </p>
        <p>
          <Title item={item} />
        </p>
      </div>
      <Time at={item.created_at} />
    </li>
  );
}

function List({ items }: { items: readonly Item[] }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const dismissal = useDismissal();
  const shown = items.filter((item) => chosen.has(item.id)).map((item) => item.id);
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <>
      <div class="actions">
        <Button kind="main" disabled={shown.length === 0 || dismissal.isPending} onClick={() => dismissal.mutate(shown)}>
          {text.inbox.dismiss(Math.max(1, shown.length))}
        </Button>
        <Button kind="quiet" onClick={() => setChosen(new Set(items.map((item) => item.id)))}>
          {text.inbox.all}
        </Button>
      </div>
      {dismissal.error && <Fault error={dismissal.error} />}
      <ul class="inbox">
        {items.map((item) => (
          <Row key={item.id} item={item} isChosen={chosen.has(item.id)} onChoose={(isChosen) => choose(item.id, isChosen)} />
        ))}
      </ul>
    </>
  );
}

export default function Inbox() {
  const [address, setAddress] = useSearchParams();
  const isArchived = address.get("view") === "archived";
  return (
    <Page
      title={text.inbox.title}
      actions={
        <Tabs label="View" values={VIEWS} value={isArchived ? "archived" : ""} onChange={(view) => setAddress(view ? { view } : {})} />
      }
    >
      <Answer query={useQuery(inbox(isArchived))}>
        {({ items }) => (items.length > 0 ? <List items={items} /> : <Empty>{text.inbox.empty}</Empty>)}
      </Answer>
    </Page>
  );
}
