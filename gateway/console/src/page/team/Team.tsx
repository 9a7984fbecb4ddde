import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { team } from "../../api/team";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { useScope } from "../../part/scope";
import { Invitations } from "./Invitations";
import { Invite } from "./Invite";
import { Members } from "./Members";
import { Found, Rename } from "./Name";
import { teamText } from "./text";

/** Who works in the account, and who is invited. */
export function Team() {
  const [open, setOpen] = useState<"invite" | "rename" | "found" | null>(null);
  const close = () => setOpen(null);
  const mayFound = useScope("account:write");
  const mayManage = useScope("team:write");
  return (
    <section class="group">
      <header class="group-head">
        <h2>{teamText.title}</h2>
        <div class="actions">
          {mayFound && <Button onClick={() => setOpen("found")}>{teamText.found}</Button>}
          {mayManage && <Button onClick={() => setOpen("rename")}>{teamText.rename}</Button>}
          {mayManage && <Button onClick={() => setOpen("invite")}>{teamText.invite}</Button>}
        </div>
      </header>
      <Answer query={useQuery(team)}>
        {({ account, members, invitations, you }) => (
          <>
            <Members rows={members} you={you} mayManage={mayManage} />
            {mayManage && invitations.length > 0 && <Invitations rows={invitations} />}
            {open === "invite" && <Invite own={you?.role ?? "viewer"} onClose={close} />}
            {open === "rename" && <Rename name={account.name} onClose={close} />}
            {open === "found" && <Found onClose={close} />}
          </>
        )}
      </Answer>
    </section>
  );
}
