/** What waits for a person: by kind, read, and dismissed. */
import { useQuery } from "@tanstack/preact-query";
import { useSearchParams } from "wouter-preact";

import { inbox, INBOX_ROWS, type InboxFilter } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { Pager } from "../../part/Pager";
import { Tabs } from "../../part/Tabs";
import { List } from "./List";
import { isKind, KindFilter, type Kind } from "./kinds";
import { inboxText } from "./text";

const VIEWS = [
  ["", inboxText.title],
  ["archived", inboxText.archived],
] as const;

function filterOf(address: URLSearchParams): InboxFilter {
  const kind = address.get("kind");
  return { archived: address.get("view") === "archived", kind: isKind(kind) ? kind : undefined };
}

function addressOf({ archived, kind }: InboxFilter): Record<string, string> {
  return { ...(archived ? { view: "archived" } : {}), ...(kind ? { kind } : {}) };
}

function Nothing({ kind, onClear }: { kind: Kind | undefined; onClear: () => void }) {
  if (!kind) return <Empty>{inboxText.empty}</Empty>;
  return <Empty action={<Button onClick={onClear}>{inboxText.clear}</Button>}>{inboxText.none}</Empty>;
}

export default function Inbox() {
  const [address, setAddress] = useSearchParams();
  const filter = filterOf(address);
  const offset = Number(address.get("offset") ?? 0) || 0;
  const show = (next: InboxFilter) => setAddress(addressOf(next));
  return (
    <Page
      title={inboxText.title}
      actions={
        <Tabs
          label={inboxText.view}
          values={VIEWS}
          value={filter.archived ? "archived" : ""}
          onChange={(view) => show({ ...filter, archived: view === "archived" })}
        />
      }
    >
      <KindFilter value={filter.kind} onChange={(kind) => show({ ...filter, kind })} />
      <Answer query={useQuery(inbox(filter, offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <List key={address.toString()} items={items} isArchived={filter.archived} />
              <Pager
                offset={offset}
                size={INBOX_ROWS}
                total={total}
                onMove={(next) => setAddress({ ...addressOf(filter), offset: String(next) })}
              />
            </>
          ) : (
            <Nothing kind={filter.kind} onClear={() => show({ ...filter, kind: undefined })} />
          )
        }
      </Answer>
    </Page>
  );
}
