import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { absolute } from "../../api/format";
import { Dialog } from "../../part/Dialog";
import { useEdit } from "../../part/form/edit";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { text } from "../../text";
import { ExpiryFields, expiryBody, KEPT } from "./Expiry";
import { ScopeFields } from "./ScopeFields";
import { settingsText } from "./text";

const words = settingsText;

interface Props {
  row: Schemas["ApiKey"];
  scopes: Schemas["ApiKeyList"]["scopes"];
  onClose: () => void;
}

/** Renames a key, and changes what a personal one may do and when it ends. */
export function EditKey({ row, scopes, onClose }: Props) {
  const read = { name: row.name, scopes: row.scopes };
  const edit = useEdit(read, (values) => values);
  const [expiry, setExpiry] = useState(KEPT);
  const client = useQueryClient();
  const isPersonal = row.kind === "personal";
  const send = async () =>
    answer(
      api.PATCH("/api/v1.0/account/api-keys/{key_id}", {
        params: { path: { key_id: row.id } },
        body: { ...edit.difference(), ...expiryBody(expiry) },
      }),
    );
  const reload = () => client.invalidateQueries({ queryKey: ["keys"] });
  const onDone = async () => {
    await reload();
    onClose();
  };
  return (
    <Dialog title={words.editTitle(row.name)} onClose={onClose}>
      <Form
        submit={text.save}
        send={send}
        onDone={onDone}
        onCancel={onClose}
        edit={{ ...edit, isChanged: edit.isChanged || expiry.choice !== KEPT.choice, reload }}
      >
        {(fault) => (
          <>
            <TextField
              label={words.keyName}
              value={edit.values.name}
              onInput={(name) => edit.set({ name })}
              required
              fault={fault("name")}
            />
            {isPersonal ? (
              <>
                <ExpiryFields
                  value={expiry}
                  kept={row.expires_at ? absolute(new Date(row.expires_at)) : words.never}
                  onChange={setExpiry}
                  fault={fault("expires_in_days")}
                />
                <ScopeFields
                  scopes={scopes}
                  chosen={edit.values.scopes}
                  onChange={(chosen) => edit.set({ scopes: chosen })}
                  fault={fault("scopes")}
                />
              </>
            ) : (
              <p class="small quiet">{words.onlyName}</p>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
