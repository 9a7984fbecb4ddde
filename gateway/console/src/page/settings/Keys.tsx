import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Confirm } from "../../part/Confirm";
import { Dialog } from "../../part/Dialog";
import { TextField } from "../../part/Field";
import { Form } from "../../part/Form";
import { Once } from "../../part/Once";
import { SelectField } from "../../part/Select";
import { State, type Tone } from "../../part/State";
import { Table } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";

type Key = Schemas["ApiKey"];
type Preset = Schemas["ApiKeyList"]["presets"][number];

const TONES: Readonly<Record<Key["status"], Tone>> = { active: "done", expired: "off", revoked: "off" };
const PRESETS = ["full_access", "read_only", "agent"] as const;

function NewKeyForm({ presets, onMade }: { presets: readonly Preset[]; onMade: (key: string) => void }) {
  const [name, setName] = useState("");
  const [preset, setPreset] = useState<(typeof PRESETS)[number]>("read_only");
  const [days, setDays] = useState("");
  const client = useQueryClient();
  const send = () =>
    answer(api.POST("/api/v1.0/account/api-keys", { body: { name, preset, ...(days ? { expires_in_days: Number(days) } : {}) } }));
  const onDone = async (made: Schemas["ApiKeyCreated"]) => {
    onMade(made.key);
    await client.invalidateQueries({ queryKey: keys.queryKey });
  };
  return (
    <Form submit={text.settings.create} send={send} onDone={onDone}>
      {(fault) => (
        <>
          <TextField label={text.settings.keyName} value={name} onInput={setName} required fault={fault("name")} />
          <SelectField
            label={text.settings.preset}
            hint={presets.find((each) => each.name === preset)?.description}
            value={preset}
            values={PRESETS.map((each) => [each, each.replace("_", " ")] as const)}
            onChange={(chosen) => setPreset(chosen ?? "read_only")}
          />
          <TextField label={text.settings.days} type="number" value={days} onInput={setDays} fault={fault("expires_in_days")} />
        </>
      )}
    </Form>
  );
}

function NewKey({ presets, onClose }: { presets: readonly Preset[]; onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null);
  return (
    <Dialog title={text.settings.newKey} onClose={onClose}>
      {made === null ? <NewKeyForm presets={presets} onMade={setMade} /> : <Once lead={text.settings.made} value={made} />}
    </Dialog>
  );
}

function RevokeKey({ row, onClose }: { row: Key; onClose: () => void }) {
  const client = useQueryClient();
  return (
    <Confirm
      title={text.settings.revokeTitle(row.name)}
      action={text.settings.revoke}
      send={() => answer(api.POST("/api/v1.0/account/api-keys/{key_id}/revoke", { params: { path: { key_id: row.id } } }))}
      onDone={() => client.invalidateQueries({ queryKey: keys.queryKey })}
      onClose={onClose}
    >
      <p>{text.settings.revokeText}</p>
    </Confirm>
  );
}

function KeyTable({ rows, onRevoke }: { rows: readonly Key[]; onRevoke: (row: Key) => void }) {
  const names = text.settings.columns;
  return (
    <Table
      label={text.settings.keys}
      rows={rows}
      rowKey={(row) => row.id}
      columns={[
        { name: names.name, cell: (row) => row.name },
        { name: names.prefix, cell: (row) => <code>{row.prefix}</code> },
        { name: names.scopes, figure: true, cell: (row) => <span title={row.scopes.join(" ")}>{row.scopes.length}</span> },
        { name: names.used, cell: (row) => <Time at={row.last_used_at} /> },
        { name: names.expires, cell: (row) => (row.expires_at ? <Time at={row.expires_at} /> : text.settings.never) },
        { name: names.status, cell: (row) => <State tone={TONES[row.status]}>{row.status}</State> },
        {
          name: "Actions",
          cell: (row) =>
            row.status === "active" && (
              <Button kind="quiet" onClick={() => onRevoke(row)}>
                {text.settings.revoke}
              </Button>
            ),
        },
      ]}
    />
  );
}

export function Keys() {
  const [isNew, setIsNew] = useState(false);
  const [revoked, setRevoked] = useState<Key | null>(null);
  return (
    <section class="group">
      <header class="group-head">
        <h2>{text.settings.keys}</h2>
        <Button onClick={() => setIsNew(true)}>{text.settings.newKey}</Button>
      </header>
      <Answer query={useQuery(keys)}>
        {(list) => (
          <>
            <KeyTable rows={list.keys} onRevoke={setRevoked} />
            {isNew && <NewKey presets={list.presets} onClose={() => setIsNew(false)} />}
          </>
        )}
      </Answer>
      {revoked && <RevokeKey row={revoked} onClose={() => setRevoked(null)} />}
    </section>
  );
}
