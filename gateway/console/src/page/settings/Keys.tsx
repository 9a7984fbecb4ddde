import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { faultOf, Problem } from "../../api/problem";
import { keys } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Confirm, Dialog } from "../../part/Dialog";
import { Fault } from "../../part/Fault";
import { Field, TextField } from "../../part/Field";
import { State, type Tone } from "../../part/State";
import { Table } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";

type Key = Schemas["ApiKey"];
type Preset = Schemas["ApiKeyList"]["presets"][number];

const TONES: Readonly<Record<Key["status"], Tone>> = { active: "done", expired: "off", revoked: "off" };
const PRESETS = ["full_access", "read_only", "agent"] as const;

function MadeKey({ value }: { value: string }) {
  return (
    <div role="status">
      <p>{text.settings.made}</p>
      <p class="made-key">
        <code>{value}</code>
        <Button onClick={() => void navigator.clipboard.writeText(value)}>{text.copy}</Button>
      </p>
    </div>
  );
}

function NewKey({ presets, onClose }: { presets: readonly Preset[]; onClose: () => void }) {
  const [name, setName] = useState("");
  const [preset, setPreset] = useState<(typeof PRESETS)[number]>("read_only");
  const [days, setDays] = useState("");
  const client = useQueryClient();
  const making = useMutation({
    mutationFn: () =>
      answer(api.POST("/api/v1.0/account/api-keys", { body: { name, preset, ...(days ? { expires_in_days: Number(days) } : {}) } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.queryKey }),
  });
  const problem = making.error instanceof Problem ? making.error : null;
  const submit = (event: Event) => {
    event.preventDefault();
    making.mutate();
  };
  return (
    <Dialog title={text.settings.newKey} onClose={onClose}>
      {making.data ? (
        <MadeKey value={making.data.key} />
      ) : (
        <form class="form" onSubmit={submit}>
          <TextField label={text.settings.keyName} value={name} onInput={setName} required fault={faultOf(problem, "name")} />
          <Field label={text.settings.preset} hint={presets.find((each) => each.name === preset)?.description}>
            {(id, describedBy) => (
              <select
                id={id}
                aria-describedby={describedBy}
                value={preset}
                onChange={(event) => setPreset(PRESETS.find((each) => each === event.currentTarget.value) ?? "read_only")}
              >
                {PRESETS.map((each) => (
                  <option key={each} value={each}>
                    {each.replace("_", " ")}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <TextField
            label={text.settings.days}
            type="number"
            value={days}
            onInput={setDays}
            fault={faultOf(problem, "expires_in_days")}
          />
          {problem && problem.fields.length === 0 && <Fault error={problem} />}
          <div class="actions">
            <Button kind="main" type="submit" disabled={making.isPending}>
              {text.settings.create}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

function RevokeKey({ row, onClose }: { row: Key; onClose: () => void }) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/account/api-keys/{key_id}/revoke", { params: { path: { key_id: row.id } } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.queryKey });
      onClose();
    },
  });
  return (
    <Confirm
      title={text.settings.revokeTitle(row.name)}
      action={text.settings.revoke}
      isBusy={revoking.isPending}
      onConfirm={() => revoking.mutate()}
      onClose={onClose}
    >
      <p>{text.settings.revokeText}</p>
      {revoking.error && <Fault error={revoking.error} />}
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
