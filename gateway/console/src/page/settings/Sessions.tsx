import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { SESSION_ROWS, SESSIONS, sessions } from "../../api/queries";
import { team } from "../../api/team";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { useOffset } from "../../part/offset";
import { Pager } from "../../part/Pager";
import { useScope } from "../../part/scope";
import { Table } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { browserName } from "./browser";
import { settingsText } from "./text";

type Session = Schemas["SessionItem"];

const browserOf = ({ user_agent: sent }: Session) => (sent ? browserName(sent) : settingsText.someBrowser);

/** The addresses of those whose sessions are shown: the members of the account. */
function useEmails(): ReadonlyMap<string, string> {
  const { data } = useQuery({ ...team, enabled: useScope("team:read") });
  return new Map(data?.members.map(({ person_id, email }) => [person_id, email]));
}

interface EndProps {
  row: Session;
  email: string | undefined; // whose it is
  onClose: () => void;
}

function End({ row, email, onClose }: EndProps) {
  const client = useQueryClient();
  return (
    <Confirm
      title={settingsText.endTitle(browserOf(row), email)}
      action={settingsText.end}
      send={() => answer(api.DELETE("/api/v1.0/sessions/{session_id}", { params: { path: { session_id: row.id } } }))}
      onDone={() => client.invalidateQueries({ queryKey: SESSIONS })}
      onClose={onClose}
    >
      <p>{settingsText.endText}</p>
    </Confirm>
  );
}

/** Browsers that are logged in. */
export function Sessions() {
  const [ended, setEnded] = useState<Session | null>(null);
  const mayEnd = useScope("account:write");
  const [offset, move] = useOffset("sessions");
  const emails = useEmails();
  const emailOf = ({ person }: Session) => (person === null ? undefined : emails.get(person));
  const names = settingsText.sessionColumns;
  return (
    <section class="group">
      <h2>{settingsText.sessions}</h2>
      <Answer query={useQuery(sessions(offset))}>
        {({ items, total }) => (
          <>
            <Table
              label={settingsText.sessions}
              rows={items}
              rowKey={(row) => row.id}
              columns={[
                { name: names.person, cell: (row) => emailOf(row) ?? <Unknown /> },
                { name: names.browser, cell: (row) => (row.user_agent ? browserName(row.user_agent) : <Unknown />) },
                { name: names.address, cell: (row) => row.ip ?? <Unknown /> },
                { name: names.seen, cell: (row) => <Time at={row.last_seen_at} /> },
                { name: names.started, cell: (row) => <Time at={row.created_at} /> },
                {
                  name: text.actions,
                  cell: (row) =>
                    row.current
                      ? settingsText.current
                      : mayEnd && (
                          <Button kind="quiet" onClick={() => setEnded(row)}>
                            {settingsText.end}
                          </Button>
                        ),
                },
              ]}
            />
            <Pager offset={offset} size={SESSION_ROWS} total={total} onMove={move} />
          </>
        )}
      </Answer>
      {ended && <End row={ended} email={emailOf(ended)} onClose={() => setEnded(null)} />}
    </section>
  );
}
