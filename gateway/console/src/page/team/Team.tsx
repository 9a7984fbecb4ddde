import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { team } from "../../api/team";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { useScope } from "../../part/scope";
import { text } from "../../text";
import { Invitations } from "./Invitations";
import { Invite } from "./Invite";
import { Members } from "./Members";

/** Who works in the account, and who is invited. */
export function Team() {
  const [isInviting, setIsInviting] = useState(false);
  const mayManage = useScope("team:write");
  return (
    <section class="group">
      <header class="group-head">
        <h2>{text.team.title}</h2>
        {mayManage && <Button onClick={() => setIsInviting(true)}>{text.team.invite}</Button>}
      </header>
      <Answer query={useQuery(team)}>
        {({ members, invitations, you }) => (
          <>
            <Members rows={members} you={you} mayManage={mayManage} />
            {mayManage && invitations.length > 0 && <Invitations rows={invitations} />}
            {isInviting && <Invite own={you?.role ?? "viewer"} onClose={() => setIsInviting(false)} />}
          </>
        )}
      </Answer>
    </section>
  );
}
