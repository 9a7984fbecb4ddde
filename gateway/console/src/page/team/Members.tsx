import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { showLoggedOut } from "../../api/session";
import { team } from "../../api/team";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Chooser } from "../../part/form/Chooser";
import { Table } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";
import { rolesFor, type Role } from "./roles";
import { teamText } from "./text";

type Member = Schemas["Member"];

interface Props {
  rows: readonly Member[];
  you: Schemas["Team"]["you"];
  mayManage: boolean;
}

interface ChangeProps {
  row: Member;
  role: Role; // the new one
  isYou: boolean;
  onClose: () => void;
}

function Change({ row, role, isYou, onClose }: ChangeProps) {
  const client = useQueryClient();
  const params = { path: { person_id: row.person_id } };
  return (
    <Confirm
      title={teamText.changeTitle(row.email, role)}
      action={teamText.change}
      send={() => answer(api.PATCH("/api/v1.0/team/members/{person_id}", { params, body: { role } }))}
      onDone={() => client.invalidateQueries({ queryKey: team.queryKey })}
      onClose={onClose}
    >
      <p>{teamText.roles[role]}</p>
      {isYou && <p>{teamText.changeOwnText}</p>}
    </Confirm>
  );
}

function RoleOf({ row, own, isYou }: { row: Member; own: Role; isYou: boolean }) {
  const [role, setRole] = useState<Role | null>(null);
  return (
    <>
      <Chooser
        label={teamText.roleOf(row.email)}
        action={teamText.change}
        current={row.role}
        values={rolesFor(own).map(([each]) => [each, each] as const)}
        isAsking={role !== null}
        onChoose={setRole}
      />
      {role && <Change row={row} role={role} isYou={isYou} onClose={() => setRole(null)} />}
    </>
  );
}

function Remove({ row, isYou, onClose }: { row: Member; isYou: boolean; onClose: () => void }) {
  const client = useQueryClient();
  const done = () => (isYou ? showLoggedOut(client) : client.invalidateQueries({ queryKey: team.queryKey }));
  return (
    <Confirm
      title={isYou ? teamText.leaveTitle : teamText.removeTitle(row.email)}
      action={isYou ? teamText.leave : teamText.remove}
      send={() => answer(api.DELETE("/api/v1.0/team/members/{person_id}", { params: { path: { person_id: row.person_id } } }))}
      onDone={done}
      onClose={onClose}
    >
      <p>{teamText.removeText}</p>
    </Confirm>
  );
}

/** The members, whose roles an owner or admin changes. Only an owner touches owners. */
export function Members({ rows, you, mayManage }: Props) {
  const [removed, setRemoved] = useState<Member | null>(null);
  const own = you?.role ?? "viewer";
  const isYou = (row: Member) => row.person_id === you?.person_id;
  const isManaged = (row: Member) => mayManage && (own === "owner" || row.role !== "owner");
  const names = teamText.columns;
  return (
    <>
      <Table
        label={teamText.title}
        rows={rows}
        rowKey={(row) => row.person_id}
        columns={[
          { name: names.email, cell: (row) => (isYou(row) ? teamText.you(row.email) : row.email) },
          { name: names.role, cell: (row) => (isManaged(row) ? <RoleOf row={row} own={own} isYou={isYou(row)} /> : row.role) },
          { name: names.seen, cell: (row) => <Time at={row.last_seen_at} /> },
          {
            name: text.actions,
            cell: (row) =>
              (isYou(row) || isManaged(row)) && (
                <Button kind="quiet" onClick={() => setRemoved(row)}>
                  {isYou(row) ? teamText.leave : teamText.remove}
                </Button>
              ),
          },
        ]}
      />
      {removed && <Remove row={removed} isYou={isYou(removed)} onClose={() => setRemoved(null)} />}
    </>
  );
}
