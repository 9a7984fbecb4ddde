import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { team } from "../../api/team";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Table } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";

type Invitation = Schemas["Invitation"];

function Revoke({ row, onClose }: { row: Invitation; onClose: () => void }) {
  const client = useQueryClient();
  const params = { path: { invitation_id: row.id } };
  return (
    <Confirm
      title={text.team.revokeTitle(row.email)}
      action={text.team.revoke}
      send={() => answer(api.DELETE("/api/v1.0/team/invitations/{invitation_id}", { params }))}
      onDone={() => client.invalidateQueries({ queryKey: team.queryKey })}
      onClose={onClose}
    >
      <p>{text.team.revokeText}</p>
    </Confirm>
  );
}

/** The open invitations. */
export function Invitations({ rows }: { rows: readonly Invitation[] }) {
  const [revoked, setRevoked] = useState<Invitation | null>(null);
  const names = text.team.columns;
  return (
    <>
      <h3>{text.team.invitations}</h3>
      <Table
        label={text.team.invitations}
        rows={rows}
        rowKey={(row) => row.id}
        columns={[
          { name: names.email, cell: (row) => row.email },
          { name: names.role, cell: (row) => row.role },
          { name: names.mail, cell: (row) => text.team.mails[row.mail] },
          { name: names.expires, cell: (row) => <Time at={row.expires_at} /> },
          {
            name: text.actions,
            cell: (row) => (
              <Button kind="quiet" onClick={() => setRevoked(row)}>
                {text.team.revoke}
              </Button>
            ),
          },
        ]}
      />
      {revoked && <Revoke row={revoked} onClose={() => setRevoked(null)} />}
    </>
  );
}
