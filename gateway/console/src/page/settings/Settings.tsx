import { Link } from "wouter-preact";

import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { auditText } from "../audit/text";
import { Endpoints } from "../endpoints/Endpoints";
import { Team } from "../team/Team";
import { AddLogin } from "./AddLogin";
import { DeleteAccount } from "./DeleteAccount";
import { Keys } from "./Keys";
import { Sessions } from "./Sessions";
import { settingsText } from "./text";

export default function Settings() {
  const hasAudit = useScope("audit:read");
  const hasTeam = useScope("team:read");
  const hasEndpoints = useScope("webhooks:read");
  return (
    <Page
      title={settingsText.title}
      wide
      actions={
        hasAudit && (
          <Link class="button" href="/settings/audit">
            {auditText.title}
          </Link>
        )
      }
    >
      {hasTeam && <Team />}
      <Keys />
      <Sessions />
      <AddLogin />
      {hasEndpoints && <Endpoints />}
      <DeleteAccount />
    </Page>
  );
}
