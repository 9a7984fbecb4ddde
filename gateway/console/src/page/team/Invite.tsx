import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { team } from "../../api/team";
import { Dialog } from "../../part/Dialog";
import { TextField } from "../../part/Field";
import { Form } from "../../part/Form";
import { Once } from "../../part/Once";
import { SelectField } from "../../part/Select";
import { text } from "../../text";
import { rolesFor, type Role } from "./roles";

function InviteForm({ own, onMade }: { own: Role; onMade: (url: string) => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const client = useQueryClient();
  const onDone = async (made: Schemas["InvitationCreated"]) => {
    onMade(new URL(made.url, location.origin).href);
    await client.invalidateQueries({ queryKey: team.queryKey });
  };
  return (
    <Form
      submit={text.team.invite}
      send={() => answer(api.POST("/api/v1.0/team/invitations", { body: { email: email.trim(), role } }))}
      onDone={onDone}
      isIncomplete={email.trim() === ""}
    >
      {(fault) => (
        <>
          <TextField label={text.team.email} value={email} onInput={setEmail} required fault={fault("email")} />
          <SelectField label={text.team.role} value={role} values={rolesFor(own)} onChange={(chosen) => setRole(chosen ?? "member")} />
        </>
      )}
    </Form>
  );
}

/** Invites an address; the page that accepts the invitation is shown once, to be passed on. */
export function Invite({ own, onClose }: { own: Role; onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null);
  return (
    <Dialog title={text.team.invite} onClose={onClose}>
      {made === null ? <InviteForm own={own} onMade={setMade} /> : <Once lead={text.team.invited} value={made} />}
    </Dialog>
  );
}
