import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api } from "../../api/client";
import { session } from "../../api/session";
import { accounts, team } from "../../api/team";
import { Dialog } from "../../part/Dialog";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { useSwitch } from "./switch";
import { teamText } from "./text";

interface Props<Result> {
  title: string;
  initial: string;
  send: (name: string) => Promise<Result>;
  onDone: (result: Result) => unknown;
  onClose: () => void;
}

/** Asks what an account is called. */
function NameDialog<Result>({ title, initial, send, onDone, onClose }: Props<Result>) {
  const [name, setName] = useState(initial);
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit={title} send={() => send(name.trim())} onDone={onDone} isIncomplete={name.trim() === ""}>
        {(fault) => <TextField label={teamText.name} value={name} onInput={setName} required fault={fault("name")} />}
      </Form>
    </Dialog>
  );
}

/** Gives the account another name. */
export function Rename({ name, onClose }: { name: string; onClose: () => void }) {
  const client = useQueryClient();
  const onDone = async () => {
    onClose();
    await Promise.all([team, accounts, session].map(({ queryKey }) => client.invalidateQueries({ queryKey })));
  };
  return (
    <NameDialog
      title={teamText.rename}
      initial={name}
      send={(chosen) => answer(api.PATCH("/api/v1.0/team", { body: { name: chosen } }))}
      onDone={onDone}
      onClose={onClose}
    />
  );
}

/** Makes another account, whose owner is the person of the session, and shows it. */
export function Found({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const switching = useSwitch();
  return (
    <NameDialog
      title={teamText.found}
      initial=""
      send={(name) => answer(api.POST("/api/v1.0/accounts", { body: { name } }))}
      onDone={async ({ id }) => {
        await client.invalidateQueries({ queryKey: accounts.queryKey });
        await switching.mutateAsync(id);
      }}
      onClose={onClose}
    />
  );
}
