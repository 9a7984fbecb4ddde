import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { spoken } from "../../api/format";
import { interests } from "../../api/queries";
import { Dialog } from "../../part/Dialog";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { Once } from "../../part/form/Once";
import { useScope } from "../../part/scope";
import { SelectField } from "../../part/form/Select";
import { type Expiry, ExpiryFields, expiryBody, NEVER } from "./Expiry";
import { ScopeFields } from "./ScopeFields";
import { settingsText } from "./text";

const words = settingsText;
const OWN = "own"; // in place of a preset
const KINDS = (["personal", "automation"] as const).map((kind) => [kind, words.kinds[kind]] as const);
const PRESETS = {
  personal: ["full_access", "read_only", "agent"],
  automation: ["automation", "agent", "read_only"],
} as const;

type Kind = keyof typeof PRESETS;
type Preset = (typeof PRESETS)[Kind][number];

interface Values {
  name: string;
  kind: Kind;
  preset: Preset | typeof OWN;
  scopes: Schemas["Scope"][];
  expiry: Expiry;
  repo: string;
  interest: string | null;
}

const NOTHING: Values = { name: "", kind: "personal", preset: "read_only", scopes: [], expiry: NEVER, repo: "", interest: null };

function bodyOf({ name, kind, preset, scopes, expiry, repo, interest }: Values): Schemas["ApiKeyCreate"] {
  const may = preset === OWN ? { scopes } : { preset };
  if (kind === "personal") return { name, kind, ...may, ...expiryBody(expiry) };
  return { name, kind, ...may, repo: repo || null, interest_id: interest };
}

interface FieldsProps {
  values: Values;
  set: (change: Partial<Values>) => void;
  fault: (field: string) => string | undefined;
}

/** To what an automation key is limited. */
function Limits({ values, set, fault }: FieldsProps) {
  const mayRead = useScope("interests:read");
  const known = useQuery({ ...interests, enabled: mayRead }).data?.items ?? [];
  return (
    <>
      <TextField
        label={words.keyRepo}
        hint={words.keyRepoHint}
        value={values.repo}
        onInput={(repo) => set({ repo: repo.trim() })}
        fault={fault("repo")}
      />
      <SelectField
        label={words.keyInterest}
        value={values.interest}
        values={known.map(({ id, name }) => [id, name] as const)}
        nothing={words.anyInterest}
        onChange={(interest) => set({ interest })}
        fault={fault("interest_id")}
      />
    </>
  );
}

function NewKeyForm({ list, onMade }: { list: Schemas["ApiKeyList"]; onMade: (key: string) => void }) {
  const [values, setValues] = useState(NOTHING);
  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }));
  const client = useQueryClient();
  const presets = PRESETS[values.kind].map((each) => [each, spoken(each)] as const);
  const onDone = async (made: Schemas["ApiKeyCreated"]) => {
    onMade(made.key);
    await client.invalidateQueries({ queryKey: ["keys"] });
  };
  return (
    <Form submit={words.create} send={() => answer(api.POST("/api/v1.0/account/api-keys", { body: bodyOf(values) }))} onDone={onDone}>
      {(fault) => (
        <>
          <TextField label={words.keyName} value={values.name} onInput={(name) => set({ name })} required fault={fault("name")} />
          <SelectField
            label={words.kind}
            value={values.kind}
            values={KINDS}
            onChange={(kind) => kind && set({ kind, preset: PRESETS[kind][0] })}
          />
          <SelectField
            label={words.preset}
            hint={list.presets.find((each) => each.name === values.preset)?.description}
            value={values.preset}
            values={[...presets, [OWN, words.ownScopes] as const]}
            onChange={(preset) => preset && set({ preset })}
            fault={fault("preset")}
          />
          {values.preset === OWN && (
            <ScopeFields scopes={list.scopes} chosen={values.scopes} onChange={(scopes) => set({ scopes })} fault={fault("scopes")} />
          )}
          {values.kind === "personal" ? (
            <ExpiryFields value={values.expiry} onChange={(expiry) => set({ expiry })} fault={fault("expires_in_days")} />
          ) : (
            <Limits values={values} set={set} fault={fault} />
          )}
        </>
      )}
    </Form>
  );
}

/** Makes a key, which is shown once. */
export function NewKey({ list, onClose }: { list: Schemas["ApiKeyList"]; onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null);
  return (
    <Dialog title={words.newKey} onClose={onClose}>
      {made === null ? <NewKeyForm list={list} onMade={setMade} /> : <Once lead={words.made} value={made} />}
    </Dialog>
  );
}
