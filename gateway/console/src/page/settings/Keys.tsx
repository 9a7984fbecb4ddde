/** The keys of the account: made, changed, looked at, revoked and deleted. */
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { interests, KEY_ROWS, keys } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { useOffset } from "../../part/offset";
import { useOpened } from "../../part/opened";
import { Pager } from "../../part/Pager";
import { useScope } from "../../part/scope";
import { State, type Tone } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { EditKey } from "./EditKey";
import { KeyUse } from "./KeyUse";
import { NewKey } from "./NewKey";
import { settingsText } from "./text";

type Key = Schemas["ApiKey"];

const words = settingsText;
const NAMES = words.columns;
const TONES: Readonly<Record<Key["status"], Tone>> = { active: "done", expired: "off", revoked: "off" };

interface AskProps {
  row: Key;
  onClose: () => void;
}

function Revoke({ row, onClose }: AskProps) {
  const client = useQueryClient();
  return (
    <Confirm
      title={words.revokeTitle(row.name)}
      action={words.revoke}
      send={() => answer(api.POST("/api/v1.0/account/api-keys/{key_id}/revoke", { params: { path: { key_id: row.id } } }))}
      onDone={() => client.invalidateQueries({ queryKey: ["keys"] })}
      onClose={onClose}
    >
      <p>{words.revokeText}</p>
    </Confirm>
  );
}

function Delete({ row, onClose }: AskProps) {
  const client = useQueryClient();
  return (
    <Confirm
      title={words.deleteTitle(row.name)}
      action={words.deleteKey}
      send={() => answer(api.DELETE("/api/v1.0/account/api-keys/{key_id}", { params: { path: { key_id: row.id } } }))}
      onDone={() => client.invalidateQueries({ queryKey: ["keys"] })}
      onClose={onClose}
    >
      <p>{words.deleteText}</p>
    </Confirm>
  );
}

type What = "edit" | "use" | "revoke" | "delete";
type Asked = { what: Exclude<What, "use">; row: Key } | null;

/** What can be done with a key, by its status. */
const ACTIONS: readonly (readonly [What, string, readonly Key["status"][]])[] = [
  ["use", words.use, ["active", "expired", "revoked"]],
  ["edit", words.edit, ["active"]],
  ["revoke", words.revoke, ["active"]],
  ["delete", words.deleteKey, ["expired", "revoked"]],
];

/** A repository, and an interest by its name where that can be read. */
function Limits({ row: { repo, interest_id: id } }: { row: Key }) {
  const mayRead = useScope("interests:read");
  const known = useQuery({ ...interests, enabled: mayRead && id !== null }).data?.items ?? [];
  if (repo === null && id === null) return <Unknown />;
  return (
    <>
      {repo}
      {repo !== null && id !== null && ", "}
      {id !== null && <Link href={`/interests/${id}`}>{known.find((each) => each.id === id)?.name ?? words.anInterest}</Link>}
    </>
  );
}

function columnsOf(mayChange: boolean, onOpen: (what: What, row: Key) => void): readonly Column<Key>[] {
  return [
    { name: NAMES.name, cell: (row) => row.name },
    { name: NAMES.person, cell: (row) => row.person?.email ?? <Unknown /> },
    { name: NAMES.prefix, cell: (row) => <code>{row.prefix}</code> },
    { name: NAMES.scopes, figure: true, cell: (row) => <span title={row.scopes.join(" ")}>{row.scopes.length}</span> },
    { name: words.limits, cell: (row) => <Limits row={row} /> },
    { name: NAMES.used, cell: (row) => <Time at={row.last_used_at} /> },
    { name: NAMES.expires, cell: (row) => (row.expires_at ? <Time at={row.expires_at} /> : words.never) },
    { name: NAMES.status, cell: (row) => <State tone={TONES[row.status]}>{row.status}</State> },
    {
      name: text.actions,
      cell: (row) => (
        <span class="actions">
          {ACTIONS.filter(([what, , statuses]) => statuses.includes(row.status) && (mayChange || what === "use")).map(([what, name]) => (
            <Button key={what} kind="quiet" onClick={() => onOpen(what, row)}>
              {name}
            </Button>
          ))}
        </span>
      ),
    },
  ];
}

function Dialogs({ asked, scopes, onClose }: { asked: Asked; scopes: Schemas["ApiKeyList"]["scopes"]; onClose: () => void }) {
  if (asked?.what === "edit") return <EditKey row={asked.row} scopes={scopes} onClose={onClose} />;
  if (asked?.what === "revoke") return <Revoke row={asked.row} onClose={onClose} />;
  if (asked?.what === "delete") return <Delete row={asked.row} onClose={onClose} />;
  return null;
}

export function Keys() {
  const [isNew, setIsNew] = useState(false);
  const [asked, setAsked] = useState<Asked>(null);
  const [used, openUse] = useOpened("use");
  const open = (what: What, row: Key) => (what === "use" ? openUse(row.id) : setAsked({ what, row }));
  const mayChange = useScope("account:write");
  const [offset, move] = useOffset("keys");
  return (
    <section class="group">
      <header class="group-head">
        <h2>{words.keys}</h2>
        {mayChange && <Button onClick={() => setIsNew(true)}>{words.newKey}</Button>}
      </header>
      <Answer query={useQuery(keys(offset))}>
        {({ items: list, total }) => (
          <>
            <Table label={words.keys} columns={columnsOf(mayChange, open)} rows={list.keys} rowKey={(row) => row.id} />
            <Pager offset={offset} size={KEY_ROWS} total={total} onMove={move} />
            {isNew && <NewKey list={list} onClose={() => setIsNew(false)} />}
            <Dialogs asked={asked} scopes={list.scopes} onClose={() => setAsked(null)} />
            {list.keys
              .filter(({ id }) => id === used)
              .map((row) => (
                <KeyUse key={row.id} row={row} onClose={() => openUse(null)} />
              ))}
          </>
        )}
      </Answer>
    </section>
  );
}
