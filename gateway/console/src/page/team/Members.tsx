import { useMutation, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { session } from "../../api/queries";
import { team } from "../../api/team";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Fault } from "../../part/Fault";
import { Table } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";
import { rolesFor, type Role } from "./roles";

type Member = Schemas["Member"];

interface Props {
  rows: readonly Member[];
  you: Schemas["Team"]["you"];
  mayManage: boolean;
}

function RoleOf({ row, own }: { row: Member; own: Role }) {
  const client = useQueryClient();
  const changing = useMutation({
    mutationFn: (role: Role) =>
      answer(api.PATCH("/api/v1.0/team/members/{person_id}", { params: { path: { person_id: row.person_id } }, body: { role } })),
    onSettled: () => client.invalidateQueries({ queryKey: team.queryKey }),
  });
  const roles = rolesFor(own);
  const choose = (name: string) => {
    const role = roles.find(([each]) => each === name)?.[0];
    if (role) changing.mutate(role);
  };
  return (
    <>
      <select
        aria-label={text.team.roleOf(row.email)}
        value={row.role}
        disabled={changing.isPending}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {roles.map(([role]) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
      {changing.error && <Fault error={changing.error} />}
    </>
  );
}

function Remove({ row, isYou, onClose }: { row: Member; isYou: boolean; onClose: () => void }) {
  const client = useQueryClient();
  const done = () => (isYou ? client.setQueryData(session.queryKey, null) : client.invalidateQueries({ queryKey: team.queryKey }));
  return (
    <Confirm
      title={isYou ? text.team.leaveTitle : text.team.removeTitle(row.email)}
      action={isYou ? text.team.leave : text.team.remove}
      send={() => answer(api.DELETE("/api/v1.0/team/members/{person_id}", { params: { path: { person_id: row.person_id } } }))}
      onDone={done}
      onClose={onClose}
    >
      <p>{text.team.removeText}</p>
    </Confirm>
  );
}

/** The members, whose roles an owner or admin changes. Only an owner touches owners. */
export function Members({ rows, you, mayManage }: Props) {
  const [removed, setRemoved] = useState<Member | null>(null);
  const own = you?.role ?? "viewer";
  const isYou = (row: Member) => row.person_id === you?.person_id;
  const isManaged = (row: Member) => mayManage && (own === "owner" || row.role !== "owner");
  const names = text.team.columns;
  return (
    <>
      <Table
        label={text.team.title}
        rows={rows}
        rowKey={(row) => row.person_id}
        columns={[
          { name: names.email, cell: (row) => (isYou(row) ? text.team.you(row.email) : row.email) },
          { name: names.role, cell: (row) => (isManaged(row) ? <RoleOf row={row} own={own} /> : row.role) },
          { name: names.seen, cell: (row) => <Time at={row.last_seen_at} /> },
          {
            name: text.actions,
            cell: (row) =>
              (isYou(row) || isManaged(row)) && (
                <Button kind="quiet" onClick={() => setRemoved(row)}>
                  {isYou(row) ? text.team.leave : text.team.remove}
                </Button>
              ),
          },
        ]}
      />
      {removed && <Remove row={removed} isYou={isYou(removed)} onClose={() => setRemoved(null)} />}
    </>
  );
}
