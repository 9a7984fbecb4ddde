import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { sessions } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { useScope } from "../../part/scope";
import { Table } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { browserName } from "./browser";

type Session = Schemas["SessionItem"];

const browserOf = ({ user_agent: sent }: Session) => (sent ? browserName(sent) : text.settings.someBrowser);

function End({ row, onClose }: { row: Session; onClose: () => void }) {
  const client = useQueryClient();
  return (
    <Confirm
      title={text.settings.endTitle(browserOf(row))}
      action={text.settings.end}
      send={() => answer(api.DELETE("/api/v1.0/sessions/{session_id}", { params: { path: { session_id: row.id } } }))}
      onDone={() => client.invalidateQueries({ queryKey: sessions.queryKey })}
      onClose={onClose}
    >
      <p>{text.settings.endText}</p>
    </Confirm>
  );
}

/** Browsers that are logged in. */
export function Sessions() {
  const [ended, setEnded] = useState<Session | null>(null);
  const mayEnd = useScope("account:write");
  const names = text.settings.sessionColumns;
  return (
    <section class="group">
      <h2>{text.settings.sessions}</h2>
      <Answer query={useQuery(sessions)}>
        {({ items }) => (
          <Table
            label={text.settings.sessions}
            rows={items}
            rowKey={(row) => row.id}
            columns={[
              { name: names.browser, cell: (row) => (row.user_agent ? browserName(row.user_agent) : <Unknown />) },
              { name: names.address, cell: (row) => row.ip ?? <Unknown /> },
              { name: names.seen, cell: (row) => <Time at={row.last_seen_at} /> },
              { name: names.started, cell: (row) => <Time at={row.created_at} /> },
              {
                name: text.actions,
                cell: (row) =>
                  row.current
                    ? text.settings.current
                    : mayEnd && (
                        <Button kind="quiet" onClick={() => setEnded(row)}>
                          {text.settings.end}
                        </Button>
                      ),
              },
            ]}
          />
        )}
      </Answer>
      {ended && <End row={ended} onClose={() => setEnded(null)} />}
    </section>
  );
}
