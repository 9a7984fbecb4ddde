/** Addresses from which feed readers take recommended papers. */
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { score } from "../../api/format";
import { interests } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Dialog } from "../../part/Dialog";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { numberOf } from "../../part/form/number";
import { Once } from "../../part/form/Once";
import { useScope } from "../../part/scope";
import { SelectField } from "../../part/form/Select";
import { Table } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";
import { feeds } from "./queries";
import { connectText } from "./text";

type Feed = Schemas["Feed"];

const words = connectText.feeds;

function useNames(): ReadonlyMap<string, string> {
  return new Map(useQuery(interests).data?.items.map(({ id, name }) => [id, name]));
}

function NewFeedForm({ onMade }: { onMade: (url: string) => void }) {
  const [interest, setInterest] = useState<string | null>(null);
  const [least, setLeast] = useState("");
  const client = useQueryClient();
  const names = useNames();
  const send = async () => {
    const body = { interest_id: interest, min_score: least === "" ? null : numberOf(least, "min_score") };
    return answer(api.POST("/api/v1.0/papers/recommended/feeds", { body }));
  };
  const onDone = async ({ url }: { url: string }) => {
    onMade(url);
    await client.invalidateQueries({ queryKey: feeds.queryKey });
  };
  return (
    <Form submit={words.make} send={send} onDone={onDone}>
      {(fault) => (
        <>
          <SelectField
            label={words.columns.interest}
            value={interest}
            values={[...names]}
            nothing={words.all}
            onChange={setInterest}
            fault={fault("interest_id")}
          />
          <TextField label={words.least} hint={words.leastHint} value={least} onInput={setLeast} fault={fault("min_score")} />
        </>
      )}
    </Form>
  );
}

function NewFeed({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null);
  return (
    <Dialog title={words.add} onClose={onClose}>
      {made === null ? <NewFeedForm onMade={setMade} /> : <Once lead={words.made} value={made} />}
    </Dialog>
  );
}

function Delete({ feed, name, onClose }: { feed: Feed; name: string; onClose: () => void }) {
  const client = useQueryClient();
  return (
    <Confirm
      title={words.removeTitle(name)}
      action={words.remove}
      send={() => answer(api.DELETE("/api/v1.0/papers/recommended/feeds/{feed_id}", { params: { path: { feed_id: feed.id } } }))}
      onDone={() => client.invalidateQueries({ queryKey: feeds.queryKey })}
      onClose={onClose}
    >
      <p>{words.removeText}</p>
    </Confirm>
  );
}

function List({ rows, onDelete }: { rows: readonly Feed[]; onDelete: ((feed: Feed) => void) | undefined }) {
  const names = useNames();
  if (rows.length === 0) return null;
  return (
    <Table
      label={words.title}
      rows={rows}
      rowKey={(row) => row.id}
      columns={[
        { name: words.columns.interest, cell: (row) => nameOf(names, row) },
        { name: words.columns.least, figure: true, cell: (row) => score(row.min_score) },
        { name: words.columns.created, cell: (row) => <Time at={row.created_at} /> },
        {
          name: text.actions,
          cell: (row) =>
            onDelete && (
              <Button kind="quiet" onClick={() => onDelete(row)}>
                {words.remove}
              </Button>
            ),
        },
      ]}
    />
  );
}

const nameOf = (names: ReadonlyMap<string, string>, { interest_id: id }: Feed) => (id === null ? words.all : (names.get(id) ?? id));

export function Feeds() {
  const [isNew, setIsNew] = useState(false);
  const [deleted, setDeleted] = useState<Feed | null>(null);
  const mayChange = useScope("recommendations:write");
  const names = useNames();
  return (
    <section class="group">
      <header class="group-head">
        <h2>{words.title}</h2>
        {mayChange && <Button onClick={() => setIsNew(true)}>{words.add}</Button>}
      </header>
      <p class="quiet">{words.lead}</p>
      <Answer query={useQuery(feeds)}>{({ items }) => <List rows={items} onDelete={mayChange ? setDeleted : undefined} />}</Answer>
      {isNew && <NewFeed onClose={() => setIsNew(false)} />}
      {deleted && <Delete feed={deleted} name={nameOf(names, deleted)} onClose={() => setDeleted(null)} />}
    </section>
  );
}
