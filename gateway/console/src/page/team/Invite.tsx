import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { team } from "../../api/team";
import { Dialog } from "../../part/Dialog";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { Once } from "../../part/form/Once";
import { SelectField } from "../../part/form/Select";
import { rolesFor, type Role } from "./roles";
import { teamText } from "./text";

function InviteForm({ own, onMade }: { own: Role; onMade: (made: Schemas["InvitationCreated"]) => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const client = useQueryClient();
  const onDone = async (made: Schemas["InvitationCreated"]) => {
    onMade(made);
    await client.invalidateQueries({ queryKey: team.queryKey });
  };
  return (
    <Form
      submit={teamText.invite}
      send={() => answer(api.POST("/api/v1.0/team/invitations", { body: { email: email.trim(), role } }))}
      onDone={onDone}
      isIncomplete={email.trim() === ""}
    >
      {(fault) => (
        <>
          <TextField label={teamText.email} value={email} onInput={setEmail} required fault={fault("email")} />
          <SelectField label={teamText.role} value={role} values={rolesFor(own)} onChange={(chosen) => setRole(chosen ?? "member")} />
        </>
      )}
    </Form>
  );
}

/** Invites an address; the page that accepts the invitation is shown once, to be passed on unless it is mailed. */
export function Invite({ own, onClose }: { own: Role; onClose: () => void }) {
  const [made, setMade] = useState<Schemas["InvitationCreated"] | null>(null);
  return (
    <Dialog title={teamText.invite} onClose={onClose}>
      {made === null ? (
        <InviteForm own={own} onMade={setMade} />
      ) : (
        <Once lead={made.mail === "queued" ? teamText.invitedByMail : teamText.invited} value={new URL(made.url, location.origin).href} />
      )}
    </Dialog>
  );
}
