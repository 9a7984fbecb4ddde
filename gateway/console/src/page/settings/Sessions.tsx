import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";
import { sessions } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { Table } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { browserName } from "./browser";

/** Browsers that are logged in. */
export function Sessions() {
  const client = useQueryClient();
  const ending = useMutation({
    mutationFn: (id: string) => answer(api.DELETE("/api/v1.0/sessions/{session_id}", { params: { path: { session_id: id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: sessions.queryKey }),
  });
  const names = text.settings.sessionColumns;
  return (
    <section class="group">
      <h2>{text.settings.sessions}</h2>
      {ending.error && <Fault error={ending.error} />}
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
                name: "Actions",
                cell: (row) =>
                  row.current ? (
                    text.settings.current
                  ) : (
                    <Button kind="quiet" disabled={ending.isPending} onClick={() => ending.mutate(row.id)}>
                      {text.settings.end}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Answer>
    </section>
  );
}
