import { useMutation, useQueryClient } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { team } from "../../api/team";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { Table } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";

/** The open invitations. */
export function Invitations({ rows }: { rows: readonly Schemas["Invitation"][] }) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: (id: string) =>
      answer(api.DELETE("/api/v1.0/team/invitations/{invitation_id}", { params: { path: { invitation_id: id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: team.queryKey }),
  });
  const names = text.team.columns;
  return (
    <>
      <h3>{text.team.invitations}</h3>
      {revoking.error && <Fault error={revoking.error} />}
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
              <Button kind="quiet" disabled={revoking.isPending} onClick={() => revoking.mutate(row.id)}>
                {text.team.revoke}
              </Button>
            ),
          },
        ]}
      />
    </>
  );
}
