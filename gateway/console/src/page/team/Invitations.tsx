import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { team } from "../../api/team";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Table } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";
import { teamText } from "./text";

type Invitation = Schemas["Invitation"];

function Revoke({ row, onClose }: { row: Invitation; onClose: () => void }) {
  const client = useQueryClient();
  const params = { path: { invitation_id: row.id } };
  return (
    <Confirm
      title={teamText.revokeTitle(row.email)}
      action={teamText.revoke}
      send={() => answer(api.DELETE("/api/v1.0/team/invitations/{invitation_id}", { params }))}
      onDone={() => client.invalidateQueries({ queryKey: team.queryKey })}
      onClose={onClose}
    >
      <p>{teamText.revokeText}</p>
    </Confirm>
  );
}

/** The open invitations. */
export function Invitations({ rows }: { rows: readonly Invitation[] }) {
  const [revoked, setRevoked] = useState<Invitation | null>(null);
  const names = teamText.columns;
  return (
    <>
      <h3>{teamText.invitations}</h3>
      <Table
        label={teamText.invitations}
        rows={rows}
        rowKey={(row) => row.id}
        columns={[
          { name: names.email, cell: (row) => row.email },
          { name: names.role, cell: (row) => row.role },
          { name: names.mail, cell: (row) => teamText.mails[row.mail] },
          { name: names.expires, cell: (row) => <Time at={row.expires_at} /> },
          {
            name: text.actions,
            cell: (row) => (
              <Button kind="quiet" onClick={() => setRevoked(row)}>
                {teamText.revoke}
              </Button>
            ),
          },
        ]}
      />
      {revoked && <Revoke row={revoked} onClose={() => setRevoked(null)} />}
    </>
  );
}
